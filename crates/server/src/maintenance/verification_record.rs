//! The result of the latest verification, as the database stores it for the status, the metrics and the console.

use std::time::Duration;

use guerdon_console::numbers;
use guerdon_domain::audit::CheckedRows;
use guerdon_domain::ports::{ReadTx, Setting, Store, StoreError, Timestamp};
use serde::{Deserialize, Serialize};

use super::stored_record::{load_record, store_record};

/// How many rows a verification read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CheckedCounts {
    pub(crate) journal_entries: u64,
    pub(crate) transfers: u64,
    pub(crate) accounts: u64,
    pub(crate) recognitions: u64,
    pub(crate) events: u64,
    pub(crate) seals: u64,
}

/// The result of a verification.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct VerificationRecord {
    /// In microseconds since 1970.
    ended_at_micros: i64,
    pub(crate) violations: u64,
    duration_micros: u64,
    pub(crate) checked: CheckedCounts,
}

impl From<CheckedRows> for CheckedCounts {
    fn from(rows: CheckedRows) -> Self {
        let CheckedRows { journal_entries, transfers, accounts, recognitions, events, seals } = rows;
        Self { journal_entries, transfers, accounts, recognitions, events, seals }
    }
}

impl CheckedCounts {
    /// The counts as a list, such as `12 journal entries, 20 transfers, …`.
    pub(crate) fn to_text(self) -> String {
        let Self { journal_entries, transfers, accounts, recognitions, events, seals } = self;
        [
            numbers::count_with_noun(journal_entries, "journal entry", "journal entries"),
            numbers::count_with_noun(transfers, "transfer", "transfers"),
            numbers::count_with_noun(accounts, "account", "accounts"),
            numbers::count_with_noun(recognitions, "recognition", "recognitions"),
            numbers::count_with_noun(events, "event", "events"),
            numbers::count_with_noun(seals, "seal", "seals"),
        ]
        .join(", ")
    }
}

impl VerificationRecord {
    pub(crate) fn new(
        ended_at: Timestamp,
        duration: Duration,
        violations: usize,
        checked: CheckedRows,
    ) -> Self {
        Self {
            ended_at_micros: ended_at.unix_micros(),
            violations: u64::try_from(violations).unwrap_or(u64::MAX),
            duration_micros: u64::try_from(duration.as_micros()).unwrap_or(u64::MAX),
            checked: checked.into(),
        }
    }

    /// When the verification ended; `None` if the stored time is invalid.
    pub(crate) fn ended_at(&self) -> Option<Timestamp> {
        Timestamp::from_unix_micros(self.ended_at_micros)
    }

    pub(crate) fn duration(&self) -> Duration {
        Duration::from_micros(self.duration_micros)
    }

    /// Reads the latest record; `None` if the database was never verified.
    pub(crate) fn load(reads: &mut dyn ReadTx) -> Result<Option<Self>, StoreError> {
        load_record(reads, Setting::LastVerification)
    }

    /// Replaces the stored record.
    pub(crate) fn store(&self, store: &dyn Store) {
        store_record(store, Setting::LastVerification, self);
    }
}
