//! `guerdon company transfer`.

use guerdon_domain::companies::{MoveCompanyError, move_to_provider};
use guerdon_domain::ports::StoreExt;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::commands::arguments::names::{CompanyName, ProviderName};
use crate::commands::error::refusals;
use crate::commands::{CommandEnvironment, CommandError, Output, Runnable, View};

/// Transfer a company to another provider; it leaves its corporation.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
#[command(after_help = r"Examples:
  guerdon company transfer acme.example --to Other
  guerdon --output json company transfer acme.example --to Acme")]
pub(crate) struct Transfer {
    /// The company: an id or a domain
    #[arg(value_name = "COMPANY")]
    company_id: CompanyName,
    /// The new provider, which also gets the company's users, occasions and points: an id or a name
    #[arg(long, value_name = "PROVIDER")]
    to: ProviderName,
}

#[derive(Serialize)]
struct Transferred {
    company_id: Uuid,
    provider_id: Uuid,
    #[serde(skip)]
    domain: String,
    #[serde(skip)]
    provider: String,
}

impl View for Transferred {
    fn text(&self) -> String {
        format!("company {} now belongs to provider {} ({})", self.domain, self.provider, self.provider_id)
    }
}

impl Runnable for Transfer {
    fn run(&self, environment: &CommandEnvironment) -> Result<Output, CommandError> {
        let (company, to) = (self.company_id.load(environment)?, self.to.find_id(environment)?);
        let provider = environment.store.transaction(|tx| -> Result<_, CommandError> {
            move_to_provider(tx, company.id, to, &environment.context())?;
            Ok(tx.provider(to)?.map_or_else(String::new, |provider| provider.name))
        })?;
        Transferred {
            company_id: company.id.as_uuid(),
            provider_id: to.as_uuid(),
            domain: company.domain.as_str().to_owned(),
            provider,
        }
        .output()
    }
}

refusals!(MoveCompanyError);
