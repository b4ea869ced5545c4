//! `guerdon company options`.

use guerdon_domain::companies::{OptionsError, set_allow_zero_points};
use guerdon_domain::ports::StoreExt;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::commands::arguments::names::CompanyName;
use crate::commands::error::refusals;
use crate::commands::{CommandEnvironment, CommandError, Output, Runnable, View};

/// Set the options of a company.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
#[command(after_help = r"Examples:
  guerdon company options acme.example --allow-zero-points true
  guerdon company options acme.example --allow-zero-points false")]
pub(crate) struct Options {
    /// The company: an id or a domain
    #[arg(value_name = "COMPANY")]
    company_id: CompanyName,
    /// Allow recognitions of 0 points.
    #[arg(long, value_name = "true|false", action = clap::ArgAction::Set)]
    allow_zero_points: bool,
}

#[derive(Serialize)]
struct Done {
    company_id: Uuid,
    allow_zero_points: bool,
}

impl View for Done {
    fn text(&self) -> String {
        let verb = if self.allow_zero_points { "allows" } else { "does not allow" };
        format!("company {} {verb} recognitions of 0 points", self.company_id)
    }
}

impl Runnable for Options {
    fn run(&self, environment: &CommandEnvironment) -> Result<Output, CommandError> {
        let (id, allow) = (self.company_id.find_id(environment)?, self.allow_zero_points);
        environment.store.transaction(|tx| -> Result<(), CommandError> {
            Ok(set_allow_zero_points(tx, id, allow, &environment.context())?)
        })?;
        Done { company_id: id.as_uuid(), allow_zero_points: allow }.output()
    }
}

refusals!(OptionsError);
