//! The state of an account, under the rules that the databases check.

use super::rules::{FUNDED_MAX, LedgerError, ROUNDING_SHORTFALL_MAX, require_rule};
use crate::money::Amount;
use crate::values::Timestamp;
use crate::wallets::AccountKind;

/// The state of an account.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AccountState {
    pub balance: Amount,
    /// The total of the debits whose reason counts as spent; saturates at [`Amount::MAX`].
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

#[cfg(test)]
mod tests {
    use super::*;

    fn check_balance(kind: AccountKind, nanodollars: i64) -> bool {
        let balance = Amount::from_nanodollars(nanodollars);
        AccountState { balance, ..AccountState::default() }.check_rules(kind).is_ok()
    }

    #[test]
    fn each_kind_of_account_has_bounds() {
        let funded_max = FUNDED_MAX.nanodollars();
        assert_eq!(
            [-funded_max - 1, -funded_max, 1].map(|nanos| check_balance(AccountKind::Funding, nanos)),
            [false, true, true]
        );
        assert_eq!([-1, 0, 1].map(|nanos| check_balance(AccountKind::Rounding, nanos)), [true, true, false]);
        for kind in
            [AccountKind::UserWallet, AccountKind::Reserve, AccountKind::Transit, AccountKind::Redeemed]
        {
            assert_eq!([-1, 0, 1].map(|nanos| check_balance(kind, nanos)), [false, true, true]);
        }
    }

    #[test]
    fn spent_amounts_and_shortfalls_have_bounds() {
        let state = AccountState::default;
        let is_valid = |state: AccountState| state.check_rules(AccountKind::PeerWallet).is_ok();
        let (less, none) = (Amount::from_nanodollars(-1), Amount::ZERO);
        let more = ROUNDING_SHORTFALL_MAX.checked_add(Amount::from_nanodollars(1)).unwrap();
        assert_eq!([less, none].map(|spent| is_valid(AccountState { spent, ..state() })), [false, true]);
        let with_shortfall = |rounding_shortfall| is_valid(AccountState { rounding_shortfall, ..state() });
        assert_eq!(
            [less, none, ROUNDING_SHORTFALL_MAX, more].map(with_shortfall),
            [false, true, true, false]
        );
    }
}
