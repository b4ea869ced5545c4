//! `guerdon company list`.

use guerdon_api_types::views::CompanyView;
use guerdon_domain::companies::CompanyWithOwner;
use guerdon_domain::ports::StoreExt;
use serde::{Deserialize, Serialize, Serializer};

use crate::commands::arguments::identifiers::ProviderArgument;
use crate::commands::arguments::limit::{limit_note, parse_limit, read_first};
use crate::commands::output::format_table;
use crate::commands::{CommandEnvironment, CommandError, CommandOutput, CommandView, RunnableCommand};

/// List companies by provider, oldest first.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
#[command(after_help = r"Examples:
  guerdon company list
  guerdon company list --provider Acme")]
pub(crate) struct List {
    /// List only companies of this provider: an id or a name
    #[arg(long, value_name = "PROVIDER")]
    provider: Option<ProviderArgument>,
    /// Maximum number of companies
    #[arg(long, default_value_t = 10_000, value_name = "COUNT", allow_negative_numbers = true, value_parser = parse_limit)]
    limit: u32,
}

struct ListedCompany<'a> {
    found: CompanyWithOwner,
    /// The number of active users.
    users: i64,
    /// The name of its provider.
    provider: &'a str,
}

impl Serialize for ListedCompany<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        CompanyView::for_fetch(&self.found, self.users).serialize(serializer)
    }
}

impl ListedCompany<'_> {
    fn to_row(&self) -> Vec<String> {
        let company = &self.found.company;
        let state = if company.handed_over_at.is_some() { "handed over" } else { "open" };
        vec![
            company.id.to_string(),
            company.domain.as_str().to_owned(),
            company.name.as_str().to_owned(),
            self.found.owner_email.as_str().to_owned(),
            self.users.to_string(),
            state.to_owned(),
            self.provider.to_owned(),
        ]
    }
}

impl CommandView for Vec<ListedCompany<'_>> {
    fn to_text(&self) -> String {
        let rows: Vec<Vec<String>> = self.iter().map(ListedCompany::to_row).collect();
        format_table(&["id", "domain", "name", "owner", "users", "state", "provider"], &rows)
    }
}

impl RunnableCommand for List {
    fn is_read_only(&self) -> bool {
        true
    }

    fn execute_in(&self, environment: &CommandEnvironment) -> Result<CommandOutput, CommandError> {
        let provider_id = self.provider.as_ref().map(|provider| provider.find_id(environment)).transpose()?;
        environment.store.read_snapshot(|reads| {
            let providers = reads.list_providers()?;
            let chosen: Vec<_> =
                providers.iter().filter(|provider| provider_id.is_none_or(|id| provider.id == id)).collect();
            if let Some(id) = provider_id.filter(|_| chosen.is_empty()) {
                return Err(CommandError::Refused(format!("no provider has the id {id}")));
            }
            let mut listed = Vec::new();
            for provider in chosen {
                let left = usize::try_from(self.limit).unwrap_or(usize::MAX) - listed.len();
                for found in read_first(left, |page| reads.list_companies(provider.id, None, page))? {
                    let users = reads.count_active_users(found.company.id)?;
                    listed.push(ListedCompany { found, users, provider: &provider.name });
                }
            }
            let notes = limit_note(listed.len(), self.limit, "company", "companies");
            Ok(CommandOutput { notes, ..listed.to_output()? })
        })
    }
}
