//! `guerdon prune`.

use guerdon_domain::retention::Pruned;
use serde::{Deserialize, Serialize};

use crate::commands::output::format_count;
use crate::commands::{CommandEnvironment, CommandError, CommandOutput, CommandView, RunnableCommand};
use crate::maintenance::retention;

/// Delete delivered events with their attempts, sent mails and idempotency records past their retention, as `serve`
/// does every day. The `retention` settings define how long each is stored.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
#[command(after_help = r"Examples:
  guerdon prune
  guerdon --output json prune")]
pub(crate) struct Prune {}

#[derive(Serialize)]
struct PruneView {
    events: usize,
    /// Partitions of delivered events that were dropped as a whole, on PostgreSQL.
    event_partitions: usize,
    mails: usize,
    idempotency_records: usize,
    /// The duration of the longest step. Other writers may have waited for it.
    longest_step_micros: u64,
}

impl CommandView for PruneView {
    fn to_text(&self) -> String {
        let Self { events, event_partitions, mails, idempotency_records, longest_step_micros: micros } = self;
        let (ms, tenth) = (micros / 1_000, micros % 1_000 / 100);
        let partitions = match event_partitions {
            0 => String::new(),
            count => format!("{}, ", format_count(*count, "partition of events", "partitions of events")),
        };
        format!(
            "deleted: {partitions}{}, {}, {}; the longest step took {ms}.{tenth} ms",
            format_count(*events, "delivered event", "delivered events"),
            format_count(*mails, "mail", "mails"),
            format_count(*idempotency_records, "idempotency record", "idempotency records")
        )
    }
}

impl RunnableCommand for Prune {
    fn execute_in(&self, environment: &CommandEnvironment) -> Result<CommandOutput, CommandError> {
        let (pruned, longest_step) = retention::prune(
            environment.store.as_ref(),
            &environment.settings.retention,
            &environment.context(),
        )?;
        let Pruned { events, event_partitions, notifications: mails, idempotency_records } = pruned;
        let longest_step_micros = u64::try_from(longest_step.as_micros()).unwrap_or(u64::MAX);
        PruneView { events, event_partitions, mails, idempotency_records, longest_step_micros }.to_output()
    }

    fn may_take_long(&self) -> bool {
        true
    }
}
