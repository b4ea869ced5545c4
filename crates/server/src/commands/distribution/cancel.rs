//! `guerdon distribution cancel`.

use guerdon_domain::distributions::cancel_schedule;
use guerdon_domain::ports::StoreExt;
use guerdon_domain::values::ScheduleId;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::commands::arguments::identifiers::parse_id;
use crate::commands::{CommandEnvironment, CommandError, CommandOutput, CommandView, RunnableCommand};

/// Cancel a schedule; points that it paid are not returned.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
#[command(after_help = r"Examples:
  guerdon distribution cancel SCHEDULE_ID
  guerdon --output json distribution cancel OTHER_SCHEDULE_ID")]
pub(crate) struct Cancel {
    /// The schedule's id.
    #[arg(value_name = "SCHEDULE_ID", value_parser = parse_id)]
    schedule_id: Uuid,
}

#[derive(Serialize)]
struct CancellationView {
    id: Uuid,
    cancelled: bool,
}

impl CommandView for CancellationView {
    fn to_text(&self) -> String {
        format!("schedule {} is cancelled", self.id)
    }
}

impl RunnableCommand for Cancel {
    fn execute_in(&self, environment: &CommandEnvironment) -> Result<CommandOutput, CommandError> {
        let id = ScheduleId::from_uuid(self.schedule_id);
        environment.store.transaction(|tx| cancel_schedule(tx, id, &environment.context()))?;
        CancellationView { id: self.schedule_id, cancelled: true }.to_output()
    }
}
