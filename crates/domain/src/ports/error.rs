//! Failures of the store.

use crate::ledger::LedgerError;

/// Why the store could not serve.
#[derive(Debug, Clone, thiserror::Error)]
pub enum StoreError {
    /// Too many want the same thing: a race was lost too often, or too much waits already. Another try may succeed.
    #[error("the database is busy")]
    Busy,
    /// A read that must not wait would have to; it did not run. The same read may succeed where it can wait.
    #[error("the database cannot answer without waiting")]
    WouldBlock,
    /// It took longer than it may; nothing was kept.
    #[error("the time for it is over")]
    DeadlineExceeded,
    /// The database cannot be reached, or does not take writes; nothing was kept. The text is for the log, never for a client.
    #[error("the database is unavailable: {0}")]
    Unavailable(String),
    /// The acknowledgement of a commit was lost: it may have been kept. An idempotency key settles a retry. The text is for the
    /// log, never for a client.
    #[error("the outcome of a commit is unknown: {0}")]
    OutcomeUnknown(String),
    /// A stored value breaks its own rules.
    #[error("{table}.{column} of {id} is corrupt")]
    Corrupt {
        table: &'static str,
        column: &'static str,
        /// The row's id.
        id: String,
    },
    /// A fault of the program or its schema; for the log, never for a client.
    #[error("the database refused: {0}")]
    Broken(String),
}

impl From<LedgerError> for StoreError {
    fn from(cause: LedgerError) -> Self {
        Self::Broken(cause.to_string())
    }
}
