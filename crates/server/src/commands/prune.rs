//! `guerdon prune`.

use serde::{Deserialize, Serialize};

use super::{CommandError, Output, Runnable, View, Workplace};
use crate::retention;

/// Lets go of what retention allows, as `serve` does each day: delivered events with their attempts, mails that were
/// handed over, answers kept for repeats. `retention` in the settings says how long each stays.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
pub(crate) struct Prune {}

#[derive(Serialize)]
struct Gone {
    events: usize,
    mails: usize,
    idempotency_records: usize,
}

impl View for Gone {
    fn text(&self) -> String {
        let Self { events, mails, idempotency_records } = self;
        format!("gone: {events} delivered events, {mails} mails, {idempotency_records} kept answers")
    }
}

impl Runnable for Prune {
    fn run(&self, workplace: &Workplace) -> Result<Output, CommandError> {
        let gone =
            retention::prune(workplace.store.as_ref(), &workplace.settings.retention, &workplace.context())?;
        let (events, mails) = (gone.events, gone.mails);
        Gone { events, mails, idempotency_records: gone.idempotency_records }.output()
    }

    fn may_take_long(&self) -> bool {
        true
    }
}
