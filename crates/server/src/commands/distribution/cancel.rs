//! `guerdon distribution cancel`.

use guerdon_domain::distributions::cancel_schedule;
use guerdon_domain::ports::StoreExt;
use guerdon_domain::values::ScheduleId;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::commands::arguments::names::parse_id;
use crate::commands::{CommandEnvironment, CommandError, Output, Runnable, View};

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
struct Cancelled {
    id: Uuid,
    cancelled: bool,
}

impl View for Cancelled {
    fn text(&self) -> String {
        format!("schedule {} is cancelled", self.id)
    }
}

impl Runnable for Cancel {
    fn run(&self, environment: &CommandEnvironment) -> Result<Output, CommandError> {
        let id = ScheduleId::from_uuid(self.schedule_id);
        environment.store.transaction(|tx| cancel_schedule(tx, id, &environment.context()))?;
        Cancelled { id: self.schedule_id, cancelled: true }.output()
    }
}
