//! Journal entries.

use super::StoreError;
use crate::model::{Cause, Redemption};
use crate::values::RedemptionId;

pub trait ReadCauses {
    fn redemption(&mut self, id: RedemptionId) -> Result<Option<Redemption>, StoreError>;
}

/// Writes journal entries.
pub trait Causes: ReadCauses {
    /// Records a journal entry. Fails if it already exists: a redemption is refunded once, a user is deleted
    /// once, and a date of a schedule is paid once.
    fn record(&mut self, cause: &Cause) -> Result<(), StoreError>;
}
