//! The result of the latest complete prune, as the database stores it for the status, the metrics and the console.

use std::time::Duration;

use guerdon_console::numbers;
use guerdon_domain::ports::{ReadTx, Setting, Store, StoreError, Timestamp};
use guerdon_domain::retention::Pruned;
use serde::{Deserialize, Serialize};

use super::stored_record::{load_record, store_record};

/// How many rows and partitions a prune deleted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct DeletedCounts {
    /// Partitions of delivered events that were dropped as a whole, on PostgreSQL.
    pub(crate) event_partitions: usize,
    pub(crate) events: usize,
    pub(crate) mails: usize,
    pub(crate) idempotency_records: usize,
}

/// The result of a prune.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PruneRecord {
    /// In microseconds since 1970.
    ended_at_micros: i64,
    pub(crate) deleted: DeletedCounts,
    longest_step_micros: u64,
}

impl From<Pruned> for DeletedCounts {
    fn from(pruned: Pruned) -> Self {
        let Pruned { events, event_partitions, notifications: mails, idempotency_records } = pruned;
        Self { event_partitions, events, mails, idempotency_records }
    }
}

impl DeletedCounts {
    pub(crate) fn is_empty(self) -> bool {
        self == Self::default()
    }

    /// The counts as a list, such as `12 delivered events, 2 emails, 0 idempotency records`.
    pub(crate) fn to_text(self) -> String {
        let count = |count: usize, one: &str, many: &str| {
            numbers::count_with_noun(u64::try_from(count).unwrap_or(u64::MAX), one, many)
        };
        let mut parts = Vec::new();
        if self.event_partitions > 0 {
            parts.push(count(self.event_partitions, "partition of events", "partitions of events"));
        }
        parts.push(count(self.events, "delivered event", "delivered events"));
        parts.push(count(self.mails, "email", "emails"));
        parts.push(count(self.idempotency_records, "idempotency record", "idempotency records"));
        parts.join(", ")
    }
}

impl PruneRecord {
    pub(crate) fn new(ended_at: Timestamp, pruned: Pruned, longest_step: Duration) -> Self {
        Self {
            ended_at_micros: ended_at.unix_micros(),
            deleted: pruned.into(),
            longest_step_micros: u64::try_from(longest_step.as_micros()).unwrap_or(u64::MAX),
        }
    }

    /// When the prune ended; `None` if the stored time is invalid.
    pub(crate) fn ended_at(&self) -> Option<Timestamp> {
        Timestamp::from_unix_micros(self.ended_at_micros)
    }

    /// The duration of the longest step, for which other writers may have waited.
    pub(crate) fn longest_step(&self) -> Duration {
        Duration::from_micros(self.longest_step_micros)
    }

    /// Reads the latest record; `None` if no prune has ended yet.
    pub(crate) fn load(reads: &mut dyn ReadTx) -> Result<Option<Self>, StoreError> {
        load_record(reads, Setting::LastPrune)
    }

    /// Replaces the stored record.
    pub(crate) fn store(&self, store: &dyn Store) {
        store_record(store, Setting::LastPrune, self);
    }
}
