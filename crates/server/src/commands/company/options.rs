//! `guerdon company options`.

use guerdon_domain::companies::{OptionsError, set_allow_zero_points};
use guerdon_domain::ports::StoreExt;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::commands::arguments::identifiers::CompanyArgument;
use crate::commands::error::impl_from_errors;
use crate::commands::{CommandEnvironment, CommandError, CommandOutput, CommandView, RunnableCommand};

/// Set the options of a company.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
#[command(after_help = r"Examples:
  guerdon company options acme.example --allow-zero-points true
  guerdon company options acme.example --allow-zero-points false")]
pub(crate) struct Options {
    /// The company: an id or a domain
    #[arg(value_name = "COMPANY")]
    company_id: CompanyArgument,
    /// Allow recognitions of 0 points.
    #[arg(long, value_name = "true|false", action = clap::ArgAction::Set)]
    allow_zero_points: bool,
}

#[derive(Serialize)]
struct OptionsView {
    company_id: Uuid,
    allow_zero_points: bool,
}

impl CommandView for OptionsView {
    fn to_text(&self) -> String {
        let verb = if self.allow_zero_points { "allows" } else { "does not allow" };
        format!("company {} {verb} recognitions of 0 points", self.company_id)
    }
}

impl RunnableCommand for Options {
    fn execute_in(&self, environment: &CommandEnvironment) -> Result<CommandOutput, CommandError> {
        let (id, allow) = (self.company_id.find_id(environment)?, self.allow_zero_points);
        environment.store.transaction(|tx| set_allow_zero_points(tx, id, allow, &environment.context()))?;
        OptionsView { company_id: id.as_uuid(), allow_zero_points: allow }.to_output()
    }
}

impl_from_errors!(OptionsError);
