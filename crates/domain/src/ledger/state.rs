//! The state of an account, under the rules that the databases check.

use super::rules::{FUNDED_MAX, LedgerError, ROUNDING_SHORTFALL_MAX, require_rule};
use crate::money::Amount;
use crate::values::Timestamp;
use crate::wallets::AccountKind;

/// The state of an account.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AccountState {
    pub balance: Amount,
    /// The total of all debits; stops at [`Amount::MAX`].
    pub spent: Amount,
    /// The number of its entries.
    pub entry_count: i64,
    /// The amount that the company's rounding account contributed to the last debit.
    pub rounding_shortfall: Amount,
    /// The alert threshold. A payment is reported if the balance was at least this amount before it and is
    /// less afterwards.
    pub alert_below: Option<Amount>,
    /// When it was closed; `None` while it is open.
    pub closed_at: Option<Timestamp>,
}

impl AccountState {
    pub fn is_open(&self) -> bool {
        self.closed_at.is_none()
    }

    /// Fails if the databases' CHECK constraints would refuse this state of an account of this kind.
    pub(super) fn check_rules(&self, kind: AccountKind) -> Result<(), LedgerError> {
        let owed = Amount::ZERO.checked_sub(self.balance);
        let holds = match kind {
            AccountKind::Funding => owed.is_none_or(|funded| funded <= FUNDED_MAX),
            AccountKind::Rounding => self.balance <= Amount::ZERO,
            _ => !self.balance.is_negative(),
        };
        require_rule(holds, "a balance is within its bounds")?;
        require_rule(!self.spent.is_negative(), "the spent amount is not negative")?;
        require_rule(
            (Amount::ZERO..=ROUNDING_SHORTFALL_MAX).contains(&self.rounding_shortfall),
            "a rounding shortfall is within the tolerance",
        )
    }
}
