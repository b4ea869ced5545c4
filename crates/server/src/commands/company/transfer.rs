//! `guerdon company transfer`.

use guerdon_domain::companies::{TransferCompanyError, transfer_to_provider};
use guerdon_domain::ports::StoreExt;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::commands::arguments::identifiers::{CompanyArgument, ProviderArgument};
use crate::commands::error::impl_from_errors;
use crate::commands::{CommandEnvironment, CommandError, CommandOutput, CommandView, RunnableCommand};

/// Transfer a company to another provider; it leaves its corporation.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
#[command(after_help = r"Examples:
  guerdon company transfer acme.example --to Other
  guerdon --output json company transfer acme.example --to Acme")]
pub(crate) struct Transfer {
    /// The company: an id or a domain
    #[arg(value_name = "COMPANY")]
    company_id: CompanyArgument,
    /// The new provider, which also gets the company's users, occasions and points: an id or a name
    #[arg(long, value_name = "PROVIDER")]
    to: ProviderArgument,
}

#[derive(Serialize)]
struct TransferView {
    company_id: Uuid,
    provider_id: Uuid,
    #[serde(skip)]
    domain: String,
    #[serde(skip)]
    provider: String,
}

impl CommandView for TransferView {
    fn to_text(&self) -> String {
        format!("company {} now belongs to provider {} ({})", self.domain, self.provider, self.provider_id)
    }
}

impl RunnableCommand for Transfer {
    fn execute_in(&self, environment: &CommandEnvironment) -> Result<CommandOutput, CommandError> {
        let (company, to) = (self.company_id.find_company(environment)?, self.to.find_id(environment)?);
        let provider = environment.store.long_transaction(|tx| -> Result<_, CommandError> {
            transfer_to_provider(tx, company.id, to, &environment.context())?;
            Ok(tx.find_provider(to)?.map_or_else(String::new, |provider| provider.name))
        })?;
        TransferView {
            company_id: company.id.as_uuid(),
            provider_id: to.as_uuid(),
            domain: company.domain.as_str().to_owned(),
            provider,
        }
        .to_output()
    }
}

impl_from_errors!(TransferCompanyError);
