//! `guerdon prune`.

use serde::{Deserialize, Serialize};

use crate::commands::{CommandEnvironment, CommandError, CommandOutput, CommandView, RunnableCommand};
use crate::maintenance::{DeletedCounts, retention};

/// Delete delivered events with their attempts, sent emails and idempotency records past their retention, and create
/// partitions for future events, as `serve` does every day. The `retention` settings define how long each is stored.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
#[command(after_help = r"Examples:
  guerdon prune
  guerdon --output json prune")]
pub(crate) struct Prune {}

#[derive(Serialize)]
struct PruneView {
    #[serde(flatten)]
    deleted: DeletedCounts,
    /// The duration of the longest step. Other writers may have waited for it.
    longest_step_micros: u64,
}

impl CommandView for PruneView {
    fn to_text(&self) -> String {
        let (ms, tenth) = (self.longest_step_micros / 1_000, self.longest_step_micros % 1_000 / 100);
        format!("deleted: {}; the longest step took {ms}.{tenth} ms", self.deleted.to_text())
    }
}

impl RunnableCommand for Prune {
    fn execute_in(&self, environment: &CommandEnvironment) -> Result<CommandOutput, CommandError> {
        let (store, settings) = (environment.store.as_ref(), &environment.settings.retention);
        let created = retention::create_event_partitions(store, settings, environment.context().clock.now());
        let record = retention::prune(store, settings, &environment.context())?;
        let longest_step_micros = u64::try_from(record.longest_step().as_micros()).unwrap_or(u64::MAX);
        let mut output = PruneView { deleted: record.deleted, longest_step_micros }.to_output()?;
        if let Err(cause) = created {
            output.notes.push(format!("cannot create partitions for future events: {cause}"));
        }
        Ok(output)
    }

    fn may_take_long(&self) -> bool {
        true
    }
}
