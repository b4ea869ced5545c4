//! Checks the transfers of a distribution in steps.

use super::Movement;
use crate::model::JournalEntry;
use crate::money::{Amount, Points, price};
use crate::wallets::{Account, Reason, WalletType};

/// What a distribution must add up to.
pub(super) struct Terms {
    pub(super) wallet: WalletType,
    pub(super) points: Points,
    pub(super) receivers: u32,
}

/// The transfers of a distribution in steps that were read so far.
#[derive(Default)]
pub(super) struct StepsJudge {
    last_leg: i32,
    given: i64,
    is_taken: bool,
    returned: Option<i64>,
}

impl StepsJudge {
    /// Whether a transfer belongs to a distribution in steps: it goes into transit, or comes from there.
    pub(super) fn concerns(cause: &JournalEntry, it: &Movement) -> bool {
        let transit = Account::Transit(cause.company_id);
        it.debit.is(transit) || it.credit.is(transit)
    }

    /// Takes the next transfer. Returns whether such a distribution can have it at this point.
    pub(super) fn transfer(&mut self, cause: &JournalEntry, terms: &Terms, it: &Movement) -> bool {
        let (reserve, transit) = (Account::Reserve(cause.company_id), Account::Transit(cause.company_id));
        let receivers = i64::from(terms.receivers);
        let is_next =
            it.leg > self.last_leg && Reason::from_code(it.reason) == Some(Reason::PointDistribution);
        self.last_leg = it.leg;
        let moves = |count: i64| {
            let price = price(cause.rate, terms.points, count);
            price.is_some_and(|price| {
                price.total == Amount::from_nanodollars(it.amount) && price.points_total.get() == it.points
            })
        };
        let fits = match i64::from(it.leg) - receivers {
            ..=0 => {
                self.given += 1;
                it.debit.is(transit) && it.credit.kind == terms.wallet.kind().code() && moves(1)
            }
            1 => {
                self.is_taken = true;
                it.debit.is(reserve) && it.credit.is(transit) && moves(receivers)
            }
            2 => {
                let rest = receivers - self.given;
                self.returned = Some(rest);
                it.debit.is(transit) && it.credit.is(reserve) && rest > 0 && moves(rest)
            }
            _ => false,
        };
        is_next && fits
    }

    /// Whether the transfers and the stored remaining work add up to the whole. `waiting` is the number of
    /// receivers that are still to be paid; `None` if no steps are in progress.
    pub(super) fn is_whole(&self, receivers: u32, waiting: Option<i64>) -> bool {
        let settled = match (waiting, self.returned) {
            (Some(waiting), None) => self.given + waiting,
            (None, returned) => self.given + returned.unwrap_or(0),
            (Some(_), Some(_)) => return false,
        };
        self.is_taken && settled == i64::from(receivers)
    }
}
