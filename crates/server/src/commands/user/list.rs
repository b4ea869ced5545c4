//! `guerdon user list`.

use guerdon_api_types::views::UserView;
use guerdon_domain::ports::{StoreExt, UserQuery};
use guerdon_domain::values::EmailAddress;
use serde::{Deserialize, Serialize};

use super::{format_name, format_rights};
use crate::commands::arguments::identifiers::{CompanyArgument, check_email};
use crate::commands::arguments::limit::parse_limit;
use crate::commands::arguments::limit::read_first;
use crate::commands::output::format_table;
use crate::commands::{CommandEnvironment, CommandError, CommandOutput, RunnableCommand};

/// List a company's users, oldest first.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
#[command(after_help = r"Examples:
  guerdon user list --company acme.example
  guerdon user list --company acme.example --email ann@acme.example --deleted")]
pub(crate) struct List {
    /// The company: an id or a domain
    #[arg(long, value_name = "COMPANY")]
    company: CompanyArgument,
    /// List only the users with this email
    #[arg(long, value_name = "EMAIL", value_parser = check_email)]
    #[serde(default)]
    email: Option<String>,
    /// Include deleted users
    #[arg(long)]
    #[serde(default)]
    deleted: bool,
    /// Maximum number of users
    #[arg(long, default_value_t = 10_000, value_name = "COUNT", allow_negative_numbers = true, value_parser = parse_limit)]
    limit: u32,
}

impl RunnableCommand for List {
    fn is_read_only(&self) -> bool {
        true
    }

    fn execute_in(&self, environment: &CommandEnvironment) -> Result<CommandOutput, CommandError> {
        let id = self.company.find_id(environment)?;
        environment.store.read_snapshot(|reads| {
            if reads.provider_of_company(id)?.is_none() {
                return Err(CommandError::Refused(format!("no company has the id {id}")));
            }
            let (mut rows, mut json) = (Vec::new(), Vec::new());
            let limit = usize::try_from(self.limit).unwrap_or(usize::MAX);
            let email = self.email.as_deref().and_then(|email| EmailAddress::parse(email).ok());
            let query = UserQuery { email, include_deleted: self.deleted, ..UserQuery::default() };
            let found = read_first(limit, |page| reads.list_users(id, &query, page))?;
            let notes = if found.len() < limit {
                Vec::new()
            } else {
                vec![format!("there may be more than {limit} users: use --limit to show more")]
            };
            for user in found {
                let email = user.profile.email.as_str().to_owned();
                let deleted = user.deleted_at.map_or_else(|| "-".to_owned(), |at| at.to_string());
                rows.push(vec![
                    user.id.to_string(),
                    email,
                    format_name(&user),
                    format_rights(&user),
                    deleted,
                ]);
                json.push(serde_json::to_string(&UserView::from_user(&user))?);
            }
            let text = format_table(&["id", "email", "name", "rights", "deleted"], &rows);
            Ok(CommandOutput {
                text,
                json: format!("[{}]", json.join(",")),
                notes,
                ..CommandOutput::default()
            })
        })
    }
}
