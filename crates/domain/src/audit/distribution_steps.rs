//! Checks the transfers of a distribution in steps.

use super::StoredTransfer;
use crate::model::{EntryKind, JournalEntry};
use crate::money::{Amount, payment_price};
use crate::wallets::{Account, Reason};

/// The transfers of a distribution in steps that were read so far.
#[derive(Default)]
pub(super) struct StepsAudit {
    last_leg: i32,
    paid_count: i64,
    is_set_aside: bool,
    returned_count: Option<i64>,
}

impl StepsAudit {
    /// Whether a transfer belongs to a distribution in steps: its entry is a distribution, and it credits or debits the
    /// account in transit.
    pub(super) fn is_step_transfer(entry: &JournalEntry, transfer: &StoredTransfer) -> bool {
        let transit = Account::Transit(entry.company_id);
        matches!(entry.kind, EntryKind::Distribution { .. })
            && (transfer.debit.is_account(transit) || transfer.credit.is_account(transit))
    }

    /// Checks the next transfer. Returns whether it is valid at this point of the distribution.
    pub(super) fn check_transfer(&mut self, entry: &JournalEntry, transfer: &StoredTransfer) -> bool {
        let EntryKind::Distribution { wallet, points, receivers, .. } = entry.kind else { return false };
        let (reserve, transit) = (Account::Reserve(entry.company_id), Account::Transit(entry.company_id));
        let receivers = i64::from(receivers);
        let is_next = transfer.leg > self.last_leg
            && Reason::from_code(transfer.reason) == Some(Reason::PointDistribution);
        self.last_leg = transfer.leg;
        let has_price_of = |count: i64| {
            let price = payment_price(entry.rate, points, count);
            price.is_some_and(|price| {
                price.total == Amount::from_nanodollars(transfer.amount)
                    && price.points_total.get() == transfer.points
            })
        };
        let is_valid = match i64::from(transfer.leg) - receivers {
            ..=0 => {
                self.paid_count += 1;
                transfer.debit.is_account(transit)
                    && transfer.credit.kind == wallet.account_kind().code()
                    && has_price_of(1)
            }
            1 => {
                self.is_set_aside = true;
                transfer.debit.is_account(reserve)
                    && transfer.credit.is_account(transit)
                    && has_price_of(receivers)
            }
            2 => {
                let unpaid = receivers - self.paid_count;
                self.returned_count = Some(unpaid);
                transfer.debit.is_account(transit)
                    && transfer.credit.is_account(reserve)
                    && unpaid > 0
                    && has_price_of(unpaid)
            }
            _ => false,
        };
        is_next && is_valid
    }

    /// Whether the transfers and the stored remaining work add up to the whole distribution. `unpaid` is the
    /// number of receivers that are still to be paid, or `None` if no steps are in progress.
    pub(super) fn is_complete(&self, receivers: u32, unpaid: Option<i64>) -> bool {
        let accounted = match (unpaid, self.returned_count) {
            (Some(unpaid), None) => self.paid_count + unpaid,
            (None, returned) => self.paid_count + returned.unwrap_or(0),
            (Some(_), Some(_)) => return false,
        };
        self.is_set_aside && accounted == i64::from(receivers)
    }
}
