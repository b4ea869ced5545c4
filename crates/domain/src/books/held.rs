//! An account as it stands, judged as the databases judge it.

use super::rules::{MADE_UP_MAX, require};
use crate::money::Amount;
use crate::ports::StoreError;
use crate::reserve::FUNDED_MAX;
use crate::wallets::AccountKind;

/// An account as it stands.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Held {
    pub balance: Amount,
    /// In all; stops at the most that an amount holds.
    pub spent: Amount,
    /// How many there were.
    pub movements: i64,
    /// What the last payment out of it was short of.
    pub made_up: Amount,
    /// A payment that takes it below this tells.
    pub alert_below: Option<Amount>,
    pub is_closed: bool,
}

impl Held {
    /// What the databases' CHECKs refuse of an account of this kind.
    pub(super) fn judge(&self, kind: AccountKind) -> Result<(), StoreError> {
        let owed = Amount::ZERO.checked_sub(self.balance);
        let holds = match kind {
            AccountKind::Funding => owed.is_none_or(|it| it <= FUNDED_MAX),
            AccountKind::Rounding => !self.is_positive(),
            _ => !self.balance.is_negative(),
        };
        require(holds, "a balance is within its bounds")?;
        require(!self.spent.is_negative(), "what was spent is not negative")?;
        require(
            (Amount::ZERO..=MADE_UP_MAX).contains(&self.made_up),
            "what is made up is within the tolerance",
        )
    }

    fn is_positive(&self) -> bool {
        self.balance > Amount::ZERO
    }
}
