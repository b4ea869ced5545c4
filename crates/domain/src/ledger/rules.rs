//! Errors of decisions, and the check of a rule.

use crate::money::Amount;
use crate::wallets::Account;

/// The largest shortfall that a rounding may cover, as the databases check it: a cent. The tolerance of every rate is
/// smaller: at most a hundredth of a cent.
pub(super) const ROUNDING_SHORTFALL_MAX: Amount = Amount::from_nanodollars(10_000_000);

/// The largest total funding of a company: nine billion dollars. This leaves room in 64 bits for what
/// rounding adds.
pub const FUNDED_MAX: Amount = Amount::from_nanodollars(9_000_000_000_000_000_000);

/// Why no decision was possible.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LedgerError {
    /// The decision depends on this account, which is not loaded.
    #[error("account {0:?} is not loaded")]
    AccountNotLoaded(Account),
    /// The decision depends on a fact of this kind that is not loaded.
    #[error("fact not loaded: {0}")]
    FactNotLoaded(&'static str),
    /// The company was handed over to another cell, so nothing may be decided for it here.
    #[error("the company is being moved to another cell")]
    CompanyHandedOver,
    /// The decision would break a rule that the databases check.
    #[error("{0}")]
    Broken(String),
}

pub(crate) fn amount_out_of_range() -> LedgerError {
    LedgerError::Broken("an amount is out of range".to_owned())
}

/// Fails if a rule that the databases check does not hold. `rule` states the rule, not the fault.
pub(crate) fn require_rule(holds: bool, rule: &str) -> Result<(), LedgerError> {
    if holds { Ok(()) } else { Err(LedgerError::Broken(format!("broken rule: {rule}"))) }
}
