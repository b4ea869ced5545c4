//! Making a payment: the conditional updates on which the safety of the money rests.
//!
//! Locks are taken in the program's one order, by kind of account and then by owner, whoever pays: so a payer is debited
//! before those of higher kinds are credited and after those of lower ones. Each statement that changes a balance also
//! takes the movement's place in its account; the transfers are written once both places of each are known.

mod everything;
mod price;
mod share;
mod statements;

use diesel::prelude::*;
use guerdon_domain::money::{Amount, Points, difference};
use guerdon_domain::ports::{Moved, Outcome, Paid, Payment, StoreError};
use guerdon_domain::wallets::{Account, Reason};

use super::super::{hold_accounts, insert_many, lock_accounts};
use super::Unit;
use crate::rows::schema::transfers;
use crate::rows::types::Id;
use crate::rows::{Leg, TransferRow};
use statements::Debited;

/// How many accounts one statement names.
const SLICE: usize = 10_000;

impl Unit<'_> {
    pub(super) fn make(&mut self, payment: &Payment<'_>) -> Result<Outcome, StoreError> {
        match payment.moved {
            Moved::Price { payers, credits, price, .. } if price.each.is_zero() => {
                self.pay_nothing(payers.first(), credits)
            }
            Moved::Price { payers, credits, price, points } => {
                self.pay_price(payment, payers, credits, price, points)
            }
            Moved::Everything { wallets, to } => self.pay_everything(payment, wallets, to),
            Moved::Sum { from, to, price, leg } => self.pay_sum(payment, (from, to), price, leg),
            Moved::Share { from, to, first_leg, each, points } => {
                self.pay_share(payment, from, (to, first_leg), each, points)
            }
            Moved::Difference { wallet, reserve, points } => {
                self.pay_difference(payment, wallet, reserve, points)
            }
        }
    }

    /// The wallet is held before it is judged; the reserve comes after it in the order of locks.
    fn pay_difference(
        &mut self,
        payment: &Payment<'_>,
        wallet: Account,
        reserve: Account,
        points: Points,
    ) -> Result<Outcome, StoreError> {
        let held = self.query(|conn| hold_accounts(conn, Id(wallet.owner()), &[wallet.kind().code()]))?;
        let Some((_, held)) = held.first() else { return Ok(Outcome::Closed) };
        let difference = difference(payment.rate, Amount::from_nanodollars(*held), points)
            .map_err(|cause| StoreError::Broken(cause.to_string()));
        let Some(by) = self.keep(difference)? else {
            return Ok(Outcome::Paid(Paid { transfers: 0, low: None }));
        };
        let (from, to) = if by.out { (wallet, reserve) } else { (reserve, wallet) };
        self.pay_price(payment, &[from], &[to], by.price, by.points)
    }

    /// A payment of zero points: payer and receivers must be there, nothing moves.
    fn pay_nothing(&mut self, payer: Option<&Account>, credits: &[Account]) -> Result<Outcome, StoreError> {
        for slice in credits.chunks(SLICE) {
            if !self.are_open(slice)? {
                return Ok(Outcome::Closed);
            }
        }
        if !self.are_open(payer.map(std::slice::from_ref).unwrap_or_default())? {
            return Ok(Outcome::Insufficient);
        }
        Ok(Outcome::Paid(Paid { transfers: 0, low: None }))
    }

    /// Whether all of these accounts, of one kind, are open; those that are stay so until the transaction ends.
    fn are_open(&mut self, accounts: &[Account]) -> Result<bool, StoreError> {
        use crate::rows::schema::accounts as table;
        let Some(kind) = accounts.first().map(|it| it.kind().code()) else { return Ok(true) };
        let owners = sorted(accounts);
        self.query(|conn| lock_accounts(conn, kind, &owners))?;
        let open: i64 = self.query(|conn| {
            table::table
                .filter(table::kind.eq(kind).and(table::owner_id.eq_any(&owners)))
                .filter(table::closed_at.is_null())
                .count()
                .get_result(conn)
        })?;
        Ok(usize::try_from(open) == Ok(owners.len()))
    }

    /// The fraction of a point that the payer was short of comes from the company's rounding account. It stands before
    /// what the payer pays, so that no balance is ever below zero on the way.
    fn make_up(
        &mut self,
        payment: &Payment<'_>,
        payer: Account,
        debited: &Debited,
    ) -> Result<(), StoreError> {
        let rounding = Account::Rounding(payment.company);
        let place = self.query(|conn| statements::make_up(conn, rounding, debited.made_up))?;
        let leg = Leg {
            number: 0,
            debit: (rounding, place),
            credit: (payer, debited.first_place - 1),
            amount: debited.made_up,
            points: Points::ZERO,
            reason: Reason::Rounding,
        };
        self.insert_transfers(payment, &[leg])
    }

    fn insert_transfers(&mut self, payment: &Payment<'_>, legs: &[Leg]) -> Result<(), StoreError> {
        if let [one] = legs {
            let one = TransferRow::of(payment, one);
            self.query(|conn| diesel::insert_into(transfers::table).values(&one).execute(conn))?;
            return Ok(());
        }
        for slice in legs.chunks(SLICE) {
            self.query(|conn| insert_many(conn, payment, slice))?;
        }
        Ok(())
    }
}

/// The owners of accounts, in the order in which they are locked.
fn sorted(accounts: &[Account]) -> Vec<Id> {
    let mut owners: Vec<Id> = accounts.iter().map(|it| Id(it.owner())).collect();
    owners.sort_unstable();
    owners
}
