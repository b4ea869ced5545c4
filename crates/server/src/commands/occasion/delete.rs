//! `guerdon occasion delete-global`.

use guerdon_domain::occasions::delete_global;
use guerdon_domain::ports::StoreExt;
use guerdon_domain::values::OccasionId;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::commands::arguments::identifiers::parse_id;
use crate::commands::{CommandEnvironment, CommandError, CommandOutput, CommandView, RunnableCommand};

/// Delete a global occasion; recognitions keep its id, and events its name.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
#[command(after_help = r"Examples:
  guerdon occasion delete-global OCCASION_ID
  guerdon --output json occasion delete-global OTHER_OCCASION_ID")]
pub(crate) struct DeleteGlobal {
    /// The occasion's id
    #[arg(value_name = "OCCASION_ID", value_parser = parse_id)]
    id: Uuid,
}

#[derive(Serialize)]
struct DeletionView {
    id: Uuid,
    deleted: bool,
}

impl CommandView for DeletionView {
    fn to_text(&self) -> String {
        format!("occasion {} is deleted", self.id)
    }
}

impl RunnableCommand for DeleteGlobal {
    fn execute_in(&self, environment: &CommandEnvironment) -> Result<CommandOutput, CommandError> {
        let (id, context) = (OccasionId::from_uuid(self.id), environment.context());
        environment.store.transaction(|tx| delete_global(tx, id, &context))?;
        DeletionView { id: self.id, deleted: true }.to_output()
    }
}
