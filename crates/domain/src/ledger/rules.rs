//! Errors of payments, and the check of a rule.

use crate::money::Amount;
use crate::ports::StoreError;
use crate::wallets::Account;

/// The most that a payment can be short of: a hundredth of a point of a dollar.
pub(super) const MADE_UP_MAX: Amount = Amount::from_nanodollars(10_000_000);

/// Refuses what breaks a rule, as a database would.
pub(crate) fn require(holds: bool, rule: &str) -> Result<(), StoreError> {
    if holds { Ok(()) } else { Err(StoreError::Broken(rule.to_owned())) }
}

/// Why a payment was not decided.
#[derive(Debug, Clone, thiserror::Error)]
pub enum PayError {
    /// The payment depends on this account, which is not loaded: load it, [roll back](super::AccountBook::roll_back) and pay again.
    #[error("account {0:?} is not loaded")]
    NotLoaded(Account),
    /// The payment would break a rule that the databases check.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl PayError {
    pub(super) fn broken(rule: impl Into<String>) -> Self {
        Self::Store(StoreError::Broken(rule.into()))
    }
}

impl From<PayError> for StoreError {
    fn from(cause: PayError) -> Self {
        match cause {
            PayError::NotLoaded(_) => Self::Broken(cause.to_string()),
            PayError::Store(cause) => cause,
        }
    }
}
