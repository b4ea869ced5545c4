//! Every invariant of the ledger, checked where the data is.

use super::StoreError;

/// One broken invariant, as a sentence for the operator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// The invariant's short name, such as `balance` or `conservation`.
    pub invariant: &'static str,
    /// What is wrong, and where.
    pub detail: String,
}

/// Checking the whole database, read-only.
pub trait Audit {
    /// Every violation there is; empty for a sound ledger.
    fn audit(&mut self) -> Result<Vec<Violation>, StoreError>;

    /// How many companies have accounts that do not sum to zero: the one invariant that is watched all the time.
    fn unbalanced_companies(&mut self) -> Result<i64, StoreError>;
}
