//! `guerdon saml show`.

use guerdon_domain::ports::StoreExt;
use serde::{Deserialize, Serialize};

use super::render_settings;
use crate::commands::arguments::identifiers::CompanyArgument;
use crate::commands::{CommandEnvironment, CommandError, CommandOutput, RunnableCommand};

/// Show the settings, and the values to enter at the identity provider.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
#[command(after_help = r"Examples:
  guerdon saml show acme.example
  guerdon --output json saml show acme.example")]
pub(crate) struct Show {
    /// The company: an id or a domain
    #[arg(value_name = "COMPANY")]
    company_id: CompanyArgument,
}

impl RunnableCommand for Show {
    fn is_read_only(&self) -> bool {
        true
    }

    fn execute_in(&self, environment: &CommandEnvironment) -> Result<CommandOutput, CommandError> {
        let company = self.company_id.find_company(environment)?;
        let settings = environment.store.read_snapshot(|reads| reads.saml_settings(company.id))?;
        render_settings(environment, &company, &settings)
    }
}
