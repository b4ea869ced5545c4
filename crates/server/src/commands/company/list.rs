//! `guerdon company list`.

use guerdon_api_types::views::CompanyView;
use guerdon_domain::companies::CompanyWithOwner;
use guerdon_domain::ports::StoreExt;
use serde::{Deserialize, Serialize};

use crate::commands::arguments::identifiers::ProviderArgument;
use crate::commands::arguments::limit::parse_limit;
use crate::commands::arguments::limit::read_first;
use crate::commands::output::format_table;
use crate::commands::{CommandEnvironment, CommandError, CommandOutput, RunnableCommand};

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
            let (mut rows, mut json) = (Vec::new(), Vec::new());
            for provider in chosen {
                let left = usize::try_from(self.limit).unwrap_or(usize::MAX) - rows.len();
                let found = read_first(left, |page| reads.list_companies(provider.id, None, page))?;
                for listed in &found {
                    let users = reads.count_active_users(listed.company.id)?;
                    rows.push(company_row(listed, users, &provider.name));
                    json.push(serde_json::to_string(&CompanyView::for_fetch(listed, users))?);
                }
            }
            let text = format_table(&["id", "domain", "name", "owner", "users", "state", "provider"], &rows);
            Ok(CommandOutput { text, json: format!("[{}]", json.join(",")), ..CommandOutput::default() })
        })
    }
}

fn company_row(listed: &CompanyWithOwner, users: i64, provider: &str) -> Vec<String> {
    let company = &listed.company;
    let texts =
        [company.domain.as_str(), company.name.as_str(), listed.owner_email.as_str()].map(str::to_owned);
    let [domain, name, owner] = texts;
    let state = if company.handed_over_at.is_some() { "handed over" } else { "open" };
    vec![
        company.id.to_string(),
        domain,
        name,
        owner,
        users.to_string(),
        state.to_owned(),
        provider.to_owned(),
    ]
}
