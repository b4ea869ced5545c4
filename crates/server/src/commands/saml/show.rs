//! `guerdon saml show`.

use guerdon_domain::ports::StoreExt;
use serde::{Deserialize, Serialize};

use super::render_settings;
use crate::commands::arguments::names::CompanyName;
use crate::commands::{CommandEnvironment, CommandError, Output, Runnable};

/// Show the settings, and the values to enter at the identity provider.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
#[command(after_help = r"Examples:
  guerdon saml show acme.example
  guerdon --output json saml show acme.example")]
pub(crate) struct Show {
    /// The company: an id or a domain
    #[arg(value_name = "COMPANY")]
    company_id: CompanyName,
}

impl Runnable for Show {
    fn is_reading(&self) -> bool {
        true
    }

    fn run(&self, environment: &CommandEnvironment) -> Result<Output, CommandError> {
        let company = self.company_id.load(environment)?;
        let settings = environment.store.snapshot(|reads| reads.saml(company.id))?;
        render_settings(environment, &company, &settings)
    }
}
