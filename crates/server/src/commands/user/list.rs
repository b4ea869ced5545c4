//! `guerdon user list`.

use guerdon_api_types::views::UserView;
use guerdon_domain::ports::{StoreExt, UserQuery};
use guerdon_domain::users::User;
use guerdon_domain::values::EmailAddress;
use serde::{Deserialize, Serialize, Serializer};

use super::{format_name, format_rights};
use crate::commands::arguments::identifiers::{CompanyArgument, check_email};
use crate::commands::arguments::limit::{limit_note, parse_limit, read_first};
use crate::commands::output::{format_table, or_dash};
use crate::commands::{CommandEnvironment, CommandError, CommandOutput, CommandView, RunnableCommand};

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

struct ListedUser(User);

impl Serialize for ListedUser {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        UserView::from_user(&self.0).serialize(serializer)
    }
}

impl CommandView for Vec<ListedUser> {
    fn to_text(&self) -> String {
        let row = |ListedUser(user): &ListedUser| {
            vec![
                user.id.to_string(),
                user.profile.email.as_str().to_owned(),
                format_name(user),
                format_rights(user),
                or_dash(user.deleted_at),
            ]
        };
        let rows: Vec<Vec<String>> = self.iter().map(row).collect();
        format_table(&["id", "email", "name", "rights", "deleted"], &rows)
    }
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
            let limit = usize::try_from(self.limit).unwrap_or(usize::MAX);
            let email = self.email.as_deref().and_then(|email| EmailAddress::parse(email).ok());
            let query = UserQuery { email, include_deleted: self.deleted, ..UserQuery::default() };
            let found = read_first(limit, |page| reads.list_users(id, &query, page))?;
            let notes = limit_note(found.len(), self.limit, "user", "users");
            let output = found.into_iter().map(ListedUser).collect::<Vec<_>>().to_output()?;
            Ok(CommandOutput { notes, ..output })
        })
    }
}
