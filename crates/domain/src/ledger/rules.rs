//! Refusing what breaks a rule.

use crate::money::Amount;
use crate::ports::StoreError;

/// The most that a payment can be short of: a hundredth of a point of a dollar.
pub(super) const MADE_UP_MAX: Amount = Amount::from_nanodollars(10_000_000);

/// Refuses what breaks a rule, as a database would.
pub(crate) fn require(holds: bool, rule: &str) -> Result<(), StoreError> {
    if holds { Ok(()) } else { Err(StoreError::Broken(rule.to_owned())) }
}
