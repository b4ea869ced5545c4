//! `guerdon user show`.

use guerdon_api_types::views::UserView;
use guerdon_domain::ports::StoreExt;
use guerdon_domain::users;
use serde::{Deserialize, Serialize};

use super::{format_name, format_rights};
use crate::commands::arguments::identifiers::UserArgument;
use crate::commands::output::format_fields;
use crate::commands::{CommandEnvironment, CommandError, CommandOutput, RunnableCommand};

/// Show a user, active or deleted.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
#[command(after_help = r"Examples:
  guerdon user show ann@acme.example --company acme.example
  guerdon user show USER_ID")]
pub(crate) struct Show {
    #[command(flatten)]
    #[serde(flatten)]
    user: UserArgument,
}

impl RunnableCommand for Show {
    fn is_read_only(&self) -> bool {
        true
    }

    fn execute_in(&self, environment: &CommandEnvironment) -> Result<CommandOutput, CommandError> {
        let id = self.user.find_id(environment)?;
        environment.store.read_snapshot(|reads| {
            let absent = || CommandError::refused("no user has this id");
            let user = users::find_any(reads, id)?.ok_or_else(absent)?;
            let json = serde_json::to_string(&UserView::from_user(&user))?;
            let deleted = user.deleted_at.map_or_else(|| "-".to_owned(), |at| at.to_string());
            let text = format_fields(&[
                ("id", &id.to_string()),
                ("company", &user.company_id.to_string()),
                ("email", user.profile.email.as_str()),
                ("name", &format_name(&user)),
                ("rights", &format_rights(&user)),
                ("created", &user.created_at.to_string()),
                ("updated", &user.updated_at.to_string()),
                ("deleted", &deleted),
            ]);
            Ok(CommandOutput { text, json, ..CommandOutput::default() })
        })
    }
}
