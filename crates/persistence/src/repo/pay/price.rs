//! A price, from one payer to one receiver or many.

use guerdon_domain::values::fit;
use std::collections::HashMap;

use guerdon_domain::money::{Amount, Points, Price};
use guerdon_domain::ports::{Outcome, Paid, Payment, StoreError};
use guerdon_domain::wallets::Account;

use super::super::Unit;
use super::statements::{Credit, Debit, Debited};
use super::{SLICE, sorted};
use crate::rows::Leg;
use crate::rows::types::Id;

/// Where each credit stands among the movements of its account, by owner; one needs no look-up.
enum Places {
    One(i64),
    Many(HashMap<Id, i64>),
}

impl Unit<'_> {
    pub(super) fn pay_price(
        &mut self,
        payment: &Payment<'_>,
        payers: &[Account],
        credits: &[Account],
        price: Price,
        points: Points,
    ) -> Result<Outcome, StoreError> {
        let payer_is_first = payers.first().map(|it| it.kind()) < credits.first().map(|it| it.kind());
        let early = if payer_is_first { None } else { Some(self.credit(credits, price.each)?) };
        if matches!(early, Some(None)) {
            return Ok(Outcome::Closed);
        }
        let Some((payer, debited)) = self.debit(payment, payers, credits.len(), price)? else {
            return Ok(Outcome::Insufficient);
        };
        let places = match early.flatten() {
            Some(places) => places,
            None => match self.credit(credits, price.each)? {
                Some(places) => places,
                None => return Ok(Outcome::Closed),
            },
        };
        if debited.made_up > 0 {
            self.make_up(payment, payer, &debited)?;
        }
        let legs = legs(payment, (payer, &debited), (credits, &places), price, points);
        let legs = self.keep(legs)?;
        self.insert_transfers(payment, &legs)?;
        let transfers = fit(legs.len());
        Ok(Outcome::Paid(Paid { transfers, low: debited.fell_below(price.total) }))
    }

    /// Debits the first payer that is open and covers the price.
    pub(super) fn debit(
        &mut self,
        payment: &Payment<'_>,
        payers: &[Account],
        count: usize,
        price: Price,
    ) -> Result<Option<(Account, Debited)>, StoreError> {
        let count = fit(count);
        for payer in payers {
            let debit = Debit {
                owner: Id(payer.owner()),
                kind: payer.kind().code(),
                count,
                total: price.total.nanodollars(),
                spent: if payment.reason.counts_as_spent() { price.total.nanodollars() } else { 0 },
                threshold: price.threshold.nanodollars(),
            };
            if let Some(debited) = self.query(|conn| debit.run(conn))? {
                return Ok(Some((*payer, debited)));
            }
        }
        Ok(None)
    }

    /// Credits every receiver, in the order of their ids; none where one is closed or was never opened.
    fn credit(&mut self, credits: &[Account], each: Amount) -> Result<Option<Places>, StoreError> {
        if let [one] = credits {
            let credit = Credit::of(*one, each.nanodollars(), 1);
            return Ok(self.query(|conn| credit.run(conn))?.map(Places::One));
        }
        let Some(kind) = credits.first().map(|it| it.kind().code()) else {
            return Ok(Some(Places::Many(HashMap::new())));
        };
        let mut places = HashMap::with_capacity(credits.len());
        for slice in sorted(credits).chunks(SLICE) {
            let credited = self.credit_open(kind, slice, each)?;
            if credited.len() != slice.len() {
                return Ok(None);
            }
            places.extend(credited);
        }
        Ok(Some(Places::Many(places)))
    }

    /// Credits an account that never closes; answers the place of the last of so many movements.
    pub(super) fn credit_all_at_once(
        &mut self,
        to: Account,
        amount: i64,
        count: i64,
    ) -> Result<i64, StoreError> {
        let credit = Credit::of(to, amount, count);
        let place = self.query(|conn| credit.run(conn))?;
        self.keep(place.ok_or_else(|| StoreError::Broken("a company has no reserve".into())))
    }
}

fn legs(
    payment: &Payment<'_>,
    (payer, debited): (Account, &Debited),
    (credits, places): (&[Account], &Places),
    price: Price,
    points: Points,
) -> Result<Vec<Leg>, StoreError> {
    let one = |(number, credit): (i32, &Account)| {
        let place = match places {
            Places::One(place) => Some(*place),
            Places::Many(places) => places.get(&Id(credit.owner())).copied(),
        };
        let place = place.ok_or_else(|| StoreError::Broken("a credit has no place".into()))?;
        Ok(Leg {
            number,
            debit: (payer, debited.first_place + i64::from(number) - 1),
            credit: (*credit, place),
            amount: price.each.nanodollars(),
            points,
            reason: payment.reason,
        })
    };
    (1..).zip(credits).map(one).collect()
}
