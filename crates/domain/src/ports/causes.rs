//! Causes.

use super::StoreError;
use crate::model::{Cause, Redemption};
use crate::values::RedemptionId;

pub trait ReadCauses {
    fn redemption(&mut self, id: RedemptionId) -> Result<Option<Redemption>, StoreError>;
}

/// Recording why.
pub trait Causes: ReadCauses {
    /// Records a cause. Fails if it is there already: a redemption is refunded once, a user deleted once, a schedule's date
    /// paid once.
    fn record(&mut self, cause: &Cause) -> Result<(), StoreError>;
}
