//! Checks of every invariant of the ledger, run in the store.

use std::collections::BTreeMap;
use std::time::Duration;

use super::{CompanyDay, EventBodies, StoreError, Timestamp};
use crate::values::{CompanyId, OccasionId};

/// The head of the seal chain: a digest of everything that was sealed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seal {
    /// The number of the seal, starting at 1.
    pub sequence: i64,
    /// The digest, which includes the digest of the previous seal.
    pub head: [u8; 32],
    /// When the seal was created.
    pub created_at: Timestamp,
}

/// The end of the ledger at one time: every row that was committed then has an earlier position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LedgerEnd {
    /// The position after the last journal entry.
    pub journal: i64,
    /// The position after the last audit entry.
    pub audit_log: i64,
}

/// The options of an audit, and the facts that it needs from outside.
#[derive(Clone, Copy)]
pub struct AuditOptions<'a> {
    /// The head of an earlier seal. If no stored seal has this head, a sealed row was later changed or
    /// removed.
    pub head: Option<[u8; 32]>,
    /// Reads the stored bodies of events.
    pub bodies: &'a dyn EventBodies,
    /// The time at which the audit starts. Recorded times of past events must not be later than the time of the
    /// snapshot that contains them.
    pub now: Timestamp,
    /// No event may wait longer than this for its next attempt.
    pub next_attempt_wait_max: Duration,
    /// The time limit of each statement, if any. SQLite has no such limit.
    pub statement_duration_max: Option<Duration>,
    /// Determines how fast the audit reads, and whether it continues.
    pub pacer: &'a dyn AuditPacer,
}

impl AuditOptions<'_> {
    /// The options for a snapshot that is taken this long after the audit started.
    #[must_use]
    pub fn after(&self, elapsed: Duration) -> Self {
        Self { now: self.now.saturating_add(elapsed), ..*self }
    }
}

/// Determines how fast an audit reads, and whether it continues.
pub trait AuditPacer: Sync {
    /// Called before each snapshot. May pause the thread.
    ///
    /// # Errors
    ///
    /// [`StoreError::DeadlineExceeded`] stops the audit.
    fn pause(&self) -> Result<(), StoreError> {
        Ok(())
    }

    /// Whether a part must continue in another snapshot as soon as its checks allow it. While a snapshot is in use,
    /// PostgreSQL cannot remove dead rows, and SQLite cannot truncate its write-ahead log.
    fn is_snapshot_too_old(&self, age: Duration) -> bool;

    /// Called repeatedly while a snapshot is in use. Does not pause.
    ///
    /// # Errors
    ///
    /// [`StoreError::DeadlineExceeded`] stops the audit.
    fn ensure_running(&self) -> Result<(), StoreError> {
        Ok(())
    }
}

/// A pacer that never pauses or stops an audit. A snapshot is in use for about a second.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unpaced;

impl AuditPacer for Unpaced {
    fn is_snapshot_too_old(&self, age: Duration) -> bool {
        age >= Duration::from_secs(1)
    }
}

/// Reads the state of the ledger as a whole.
pub trait Audit {
    /// The number of companies whose accounts do not sum to zero: the one invariant that is monitored
    /// continuously.
    fn unbalanced_companies(&mut self) -> Result<i64, StoreError>;

    fn last_seal(&mut self) -> Result<Option<Seal>, StoreError>;

    /// The end of the ledger in this snapshot.
    fn ledger_end(&mut self) -> Result<LedgerEnd, StoreError>;

    /// Whether any committed row before `end` is not sealed yet.
    fn has_unsealed_rows_before(&mut self, end: LedgerEnd) -> Result<bool, StoreError>;

    /// Computes the next seal over the committed rows that no later commit can precede: about `rows_max` rows
    /// of each table, without splitting a transaction. `None` if there is nothing new.
    fn next_seal(&mut self, now: Timestamp, rows_max: i64) -> Result<Option<PendingSeal>, StoreError>;
}

/// The rows of a table that a seal covers. They start where the previous seal ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SealedRange {
    /// The position after the last row: every row before it is covered by this seal or an earlier one.
    pub end: i64,
    /// The number of rows that this seal covers.
    pub count: i64,
}

/// A seal that is not written yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingSeal {
    /// The seal to write.
    pub seal: Seal,
    /// The journal entries that it covers.
    pub journal_entries: SealedRange,
    /// The audit entries that it covers.
    pub audit_entries: SealedRange,
    /// The number of events of these journal entries.
    pub events: i64,
    /// A digest of the ids and bodies of the events. Events are deleted after their retention, so the chain
    /// contains this digest instead of the events.
    pub events_digest: [u8; 32],
    /// What the seal adds to the statistics.
    pub statistics: StatisticsDelta,
}

/// What a range of the journal adds to the statistics.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StatisticsDelta {
    /// The number of recognitions and their points, by hour.
    pub hours: BTreeMap<i32, (i64, i64)>,
    /// The sums of each company and day. Their field `day` is not set.
    pub companies: BTreeMap<(CompanyId, i32), CompanyDay>,
    /// The number of recognitions and their points, by company, day and occasion.
    pub occasions: BTreeMap<(CompanyId, i32, OccasionId), (i64, i64)>,
}

/// Writes seals.
pub trait Seals: Audit {
    /// Writes a seal; `false` if another process has already written one with its number.
    fn insert_seal(&mut self, seal: &PendingSeal) -> Result<bool, StoreError>;
}
