//! Sums, and what is shared out of them.

use guerdon_domain::values::fit;
use std::collections::HashMap;

use diesel::prelude::*;
use guerdon_domain::money::{Amount, Points, Price};
use guerdon_domain::ports::{Outcome, Paid, Payment, StoreError};
use guerdon_domain::wallets::Account;

use super::super::super::lock_accounts;
use super::super::Unit;
use super::sorted;
use crate::rows::Leg;
use crate::rows::schema::accounts;
use crate::rows::types::Id;

impl Unit<'_> {
    /// One sum, to an account that never closes.
    pub(super) fn pay_sum(
        &mut self,
        payment: &Payment<'_>,
        (from, to): (Account, Account),
        price: Price,
        leg: u32,
    ) -> Result<Outcome, StoreError> {
        let Some((payer, debited)) = self.debit(payment, &[from], 1, price)? else {
            return Ok(Outcome::Insufficient);
        };
        if debited.made_up > 0 {
            self.make_up(payment, payer, &debited)?;
        }
        let place = self.credit_all_at_once(to, price.total.nanodollars(), 1)?;
        let leg = Leg {
            number: fit(leg),
            debit: (payer, debited.first_place),
            credit: (to, place),
            amount: price.total.nanodollars(),
            points: price.points_total,
            reason: payment.reason,
        };
        self.insert_transfers(payment, &[leg])?;
        Ok(Outcome::Paid(Paid { transfers: 1, low: debited.fell_below(price.total) }))
    }

    /// The same to each of those who are open.
    pub(super) fn pay_share(
        &mut self,
        payment: &Payment<'_>,
        from: Account,
        (to, first_leg): (&[Account], u32),
        each: Amount,
        points: Points,
    ) -> Result<Outcome, StoreError> {
        let kind = to.first().map_or(0, |it| it.kind().code());
        let places: HashMap<Id, i64> = self.credit_open(kind, &sorted(to), each)?.into_iter().collect();
        let count = fit(places.len());
        let nothing = Outcome::Paid(Paid { transfers: 0, low: None });
        if count == 0 {
            return Ok(nothing);
        }
        let total =
            each.checked_mul(count).ok_or_else(|| StoreError::Broken("an amount is out of range".into()));
        let total = self.keep(total)?;
        let price = Price { each, total, threshold: total, points_total: points };
        let debit = self.debit(payment, &[from], places.len(), price)?;
        let Some((payer, debited)) = debit else { return Ok(Outcome::Insufficient) };
        let numbered = (first_leg..).zip(to);
        let open = numbered.filter_map(|(leg, it)| Some((leg, *it, *places.get(&Id(it.owner()))?)));
        let legs: Vec<Leg> = (debited.first_place..)
            .zip(open)
            .map(|(debit_place, (leg, credit, credit_place))| Leg {
                number: fit(leg),
                debit: (payer, debit_place),
                credit: (credit, credit_place),
                amount: each.nanodollars(),
                points,
                reason: payment.reason,
            })
            .collect();
        self.insert_transfers(payment, &legs)?;
        let transfers = fit(legs.len());
        Ok(Outcome::Paid(Paid { transfers, low: None }))
    }

    /// Credits those of these accounts of one kind that are open; their owners are in order. Answers for each where
    /// the movement stands.
    pub(super) fn credit_open(
        &mut self,
        kind: i16,
        owners: &[Id],
        each: Amount,
    ) -> Result<Vec<(Id, i64)>, StoreError> {
        self.query(|conn| lock_accounts(conn, kind, owners))?;
        self.query(|conn| {
            diesel::update(accounts::table)
                .filter(accounts::kind.eq(kind).and(accounts::owner_id.eq_any(owners)))
                .filter(accounts::closed_at.is_null())
                .set((
                    accounts::balance.eq(accounts::balance + each.nanodollars()),
                    accounts::movements.eq(accounts::movements + 1),
                ))
                .returning((accounts::owner_id, accounts::movements))
                .get_results(conn)
        })
    }
}
