//! `guerdon company reopen`.

use guerdon_domain::companies::reopen;
use guerdon_domain::ports::StoreExt;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::commands::arguments::identifiers::CompanyArgument;
use crate::commands::{CommandEnvironment, CommandError, CommandOutput, CommandView, RunnableCommand};

/// Reopen a company that was handed over, after the other cell has refused the file.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
#[command(after_help = r"Examples:
  guerdon company reopen moved.example --code RELEASE_CODE
  guerdon --output json company reopen moved.example --code RELEASE_CODE")]
pub(crate) struct Reopen {
    /// The company: an id or a domain
    #[arg(value_name = "COMPANY")]
    company_id: CompanyArgument,
    /// The release code that `guerdon company import FILE --refuse` prints in the other cell
    #[arg(long, value_name = "CODE")]
    code: String,
}

#[derive(Serialize)]
struct ReopenView {
    company_id: Uuid,
}

impl CommandView for ReopenView {
    fn to_text(&self) -> String {
        format!("company {} is open again", self.company_id)
    }
}

impl RunnableCommand for Reopen {
    fn execute_in(&self, environment: &CommandEnvironment) -> Result<CommandOutput, CommandError> {
        let id = self.company_id.find_id(environment)?;
        environment.store.transaction(|tx| reopen(tx, id, &self.code, &environment.context()))?;
        ReopenView { company_id: id.as_uuid() }.to_output()
    }
}
