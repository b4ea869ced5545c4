//! `guerdon prune`.

use guerdon_domain::retention::Pruned;
use serde::{Deserialize, Serialize};

use crate::commands::output::counted;
use crate::commands::{CommandEnvironment, CommandError, Output, Runnable, View};
use crate::maintenance::retention;

/// Delete delivered events with their attempts, sent mails and expired idempotency records past their retention, as
/// `serve` does each day. The `retention` settings define how long each is stored.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
#[command(after_help = r"Examples:
  guerdon prune
  guerdon --output json prune")]
pub(crate) struct Prune {}

#[derive(Serialize)]
struct Deleted {
    events: usize,
    mails: usize,
    idempotency_records: usize,
    /// Other writers may have waited this long.
    longest_step_micros: u64,
}

impl View for Deleted {
    fn text(&self) -> String {
        let Self { events, mails, idempotency_records, longest_step_micros: micros } = self;
        let (ms, tenth) = (micros / 1_000, micros % 1_000 / 100);
        format!(
            "deleted: {}, {}, {}; the longest step took {ms}.{tenth} ms",
            counted(*events, "delivered event", "delivered events"),
            counted(*mails, "mail", "mails"),
            counted(*idempotency_records, "idempotency record", "idempotency records")
        )
    }
}

impl Runnable for Prune {
    fn run(&self, environment: &CommandEnvironment) -> Result<Output, CommandError> {
        let (pruned, longest_step) = retention::prune(
            environment.store.as_ref(),
            &environment.settings.retention,
            &environment.context(),
        )?;
        let Pruned { events, mails, idempotency_records } = pruned;
        let longest_step_micros = u64::try_from(longest_step.as_micros()).unwrap_or(u64::MAX);
        Deleted { events, mails, idempotency_records, longest_step_micros }.output()
    }

    fn may_take_long(&self) -> bool {
        true
    }
}
