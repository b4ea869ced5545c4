//! Transfers, under the rules that the databases check.

use super::rules::{LedgerError, ROUNDING_SHORTFALL_MAX, require_rule};
use crate::money::{Amount, Points, PointsPerDollar};
use crate::values::{CompanyId, JournalEntryId, Timestamp};
use crate::wallets::{Account, AccountKind, Reason};

/// One transfer. `debit` and `credit` each contain the account and the sequence number of its entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transfer {
    pub entry_id: JournalEntryId,
    pub leg: u32,
    pub company: CompanyId,
    pub debit: (Account, i64),
    pub credit: (Account, i64),
    pub amount: Amount,
    pub points: Points,
    pub rate: PointsPerDollar,
    pub reason: Reason,
    pub at: Timestamp,
}

impl Transfer {
    pub(super) fn check_rules(&self) -> Result<(), LedgerError> {
        require_rule(self.amount > Amount::ZERO, "the amount of a transfer is positive")?;
        require_rule(self.accounts_match_reason(), "the accounts of a transfer match its reason")?;
        let belongs_to_company = |account: Account| {
            (account.kind() >= AccountKind::Reserve) == (account.owner_id() == self.company.as_uuid())
        };
        require_rule(
            belongs_to_company(self.debit.0) && belongs_to_company(self.credit.0),
            "a transfer uses accounts of its own company",
        )?;
        require_rule(!self.is_single_leg() || self.leg == 1, "a transfer for this reason is leg 1")?;
        let is_rounding = self.reason == Reason::Rounding;
        let is_small = self.points == Points::ZERO && self.amount <= ROUNDING_SHORTFALL_MAX;
        require_rule(!is_rounding || is_small, "a rounding is within the tolerance")?;
        require_rule(self.matches_rate(), "the amount of a transfer matches its points and rate")
    }

    fn accounts_match_reason(&self) -> bool {
        use AccountKind::{Funding, Redeemed, Reserve, Rounding, Transit, UserWallet};
        let (debit, credit) = (self.debit.0.kind(), self.credit.0.kind());
        let is_wallet = |kind: AccountKind| kind <= AccountKind::ManagerWallet;
        match self.reason {
            Reason::Recognition => debit <= Reserve && debit > UserWallet && credit == UserWallet,
            Reason::Redemption => (debit, credit) == (UserWallet, Redeemed),
            Reason::PointDistribution => {
                let pays_wallets = matches!(debit, Reserve | Transit) && is_wallet(credit);
                pays_wallets || self.is_transit_leg()
            }
            Reason::UserDeleted => is_wallet(debit) && credit == Reserve,
            Reason::Refund => (debit, credit) == (Redeemed, UserWallet),
            Reason::Override => {
                (debit == Reserve && is_wallet(credit)) || (credit == Reserve && is_wallet(debit))
            }
            Reason::Deposit => (debit, credit) == (Funding, Reserve),
            Reason::Rounding => debit == Rounding && credit <= Reserve,
            Reason::Withdrawal => (debit, credit) == (Reserve, Funding),
        }
    }

    fn is_single_leg(&self) -> bool {
        use Reason::{Deposit, Override, Redemption, Refund, Withdrawal};
        matches!(self.reason, Redemption | Refund | Override | Deposit | Withdrawal)
    }

    /// Whether the transfer credits the account in transit, or returns the remainder from that account to the
    /// reserve.
    fn is_transit_leg(&self) -> bool {
        let kinds = (self.debit.0.kind(), self.credit.0.kind());
        kinds == (AccountKind::Reserve, AccountKind::Transit)
            || kinds == (AccountKind::Transit, AccountKind::Reserve)
    }

    fn matches_rate(&self) -> bool {
        use Reason::{Deposit, PointDistribution, Recognition, Redemption, Withdrawal};
        let is_priced_by_points =
            matches!(self.reason, Recognition | Redemption | PointDistribution | Deposit | Withdrawal);
        !is_priced_by_points || self.is_transit_leg() || self.rate.to_amount(self.points) == Some(self.amount)
    }
}

#[cfg(test)]
mod tests;
