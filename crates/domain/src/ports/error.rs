//! Failures of the store.

use crate::ledger::LedgerError;

/// Why an operation of the store failed.
#[derive(Debug, Clone, thiserror::Error)]
pub enum StoreError {
    /// Too much contention: the transaction conflicted with others too often, or too many others are waiting. A retry
    /// may succeed.
    #[error("{}", self.kind())]
    Busy,
    /// The read did not run, because it would have had to wait and its caller does not allow that. The same read may
    /// succeed if it is allowed to wait.
    #[error("{}", self.kind())]
    WouldBlock,
    /// The operation took longer than the time limit; nothing was committed.
    #[error("{}", self.kind())]
    DeadlineExceeded,
    /// The database cannot be reached, does not accept writes, had no free connection in time, or stopped a statement
    /// at its timeout. Nothing was committed. The string is for the log, never for a client.
    #[error("{}: {}", self.kind(), .0)]
    Unavailable(String),
    /// The acknowledgement of a commit was lost, or the disk failed during a commit: the transaction may have been
    /// committed, or the next start of the process may commit it. An idempotency key makes a retry safe. The string is
    /// for the log, never for a client.
    #[error("{}: {}", self.kind(), .0)]
    OutcomeUnknown(String),
    /// The company was handed over to another cell: it can be read here, but not written.
    #[error("{}", self.kind())]
    CompanyHandedOver,
    /// A stored value violates the rules of its type.
    #[error("{table}.{column} of {id} is corrupt")]
    Corrupt {
        table: &'static str,
        column: &'static str,
        /// The id of the row.
        id: String,
    },
    /// A defect of the program or its schema. The string is for the log, never for a client.
    #[error("{}: {}", self.kind(), .0)]
    Broken(String),
}

impl StoreError {
    /// The kind of failure in words, without any detail.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Busy => "the database is busy",
            Self::WouldBlock => "the database cannot respond without waiting",
            Self::DeadlineExceeded => "the deadline has passed",
            Self::Unavailable(_) => "the database is unavailable",
            Self::OutcomeUnknown(_) => "the outcome of a commit is unknown",
            Self::CompanyHandedOver => "the company is being moved to another cell",
            Self::Corrupt { .. } => "a stored value is corrupt",
            Self::Broken(_) => "internal error",
        }
    }
}

impl From<LedgerError> for StoreError {
    fn from(error: LedgerError) -> Self {
        match error {
            LedgerError::CompanyHandedOver => Self::CompanyHandedOver,
            LedgerError::AccountNotLoaded(_) | LedgerError::FactNotLoaded(_) | LedgerError::Broken(_) => {
                Self::Broken(error.to_string())
            }
        }
    }
}
