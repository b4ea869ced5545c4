//! `guerdon company list`.

use guerdon_api_types::views::CompanyView;
use guerdon_domain::companies::CompanyWithOwner;
use guerdon_domain::ports::StoreExt;
use serde::{Deserialize, Serialize};

use crate::commands::arguments::limit::parse_limit;
use crate::commands::arguments::limit::read_first;
use crate::commands::arguments::names::ProviderName;
use crate::commands::output::table;
use crate::commands::{CommandEnvironment, CommandError, Output, Runnable};

/// List companies by provider, oldest first.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
#[command(after_help = r"Examples:
  guerdon company list
  guerdon company list --provider Acme")]
pub(crate) struct List {
    /// List only companies of this provider: an id or a name
    #[arg(long, value_name = "PROVIDER")]
    provider: Option<ProviderName>,
    /// Maximum number of companies
    #[arg(long, default_value_t = 10_000, value_name = "N", allow_negative_numbers = true, value_parser = parse_limit)]
    limit: u32,
}

impl Runnable for List {
    fn is_reading(&self) -> bool {
        true
    }

    fn run(&self, environment: &CommandEnvironment) -> Result<Output, CommandError> {
        let wanted = self.provider.as_ref().map(|provider| provider.find_id(environment)).transpose()?;
        environment.store.snapshot(|reads| {
            let providers = reads.providers()?;
            let chosen: Vec<_> =
                providers.iter().filter(|provider| wanted.is_none_or(|id| provider.id == id)).collect();
            if chosen.is_empty() && wanted.is_some() {
                return Err(CommandError::refused("no provider has this id"));
            }
            let (mut rows, mut json) = (Vec::new(), Vec::new());
            for provider in chosen {
                let left = usize::try_from(self.limit).unwrap_or(usize::MAX) - rows.len();
                let found = read_first(left, |page| reads.companies(provider.id, None, page))?;
                for listed in &found {
                    let users = reads.active_user_count(listed.company.id)?;
                    rows.push(row(listed, users, &provider.name));
                    json.push(serde_json::to_string(&CompanyView::whole(listed, users))?);
                }
            }
            let text = table(&["id", "domain", "name", "owner", "users", "provider"], &rows);
            Ok(Output { text, json: format!("[{}]", json.join(",")), ..Output::default() })
        })
    }
}

fn row(it: &CompanyWithOwner, users: i64, provider: &str) -> Vec<String> {
    let company = &it.company;
    let texts = [company.domain.as_str(), company.name.as_str(), it.owner_email.as_str()].map(str::to_owned);
    let [domain, name, owner] = texts;
    vec![company.id.to_string(), domain, name, owner, users.to_string(), provider.to_owned()]
}
