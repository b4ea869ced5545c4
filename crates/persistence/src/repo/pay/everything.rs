//! All that a user's wallets hold, to the reserve; the wallets close.

use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::BigInt;
use guerdon_domain::money::Amount;
use guerdon_domain::ports::{Outcome, Paid, Payment, StoreError};
use guerdon_domain::values::fit;
use guerdon_domain::wallets::Account;

use super::super::super::hold_accounts;
use super::super::Unit;
use super::statements::SPENT_MAX;
use crate::rows::Leg;
use crate::rows::schema::accounts;
use crate::rows::types::{At, Id};

impl Unit<'_> {
    pub(super) fn pay_everything(
        &mut self,
        payment: &Payment<'_>,
        wallets: &[Account],
        to: Account,
    ) -> Result<Outcome, StoreError> {
        let Some(owner) = wallets.first().map(|it| Id(it.owner())) else { return Ok(Outcome::Closed) };
        let kinds: Vec<i16> = wallets.iter().map(|it| it.kind().code()).collect();
        let held = self.query(|conn| hold_accounts(conn, owner, &kinds))?;
        let places = self.close(payment, owner, &kinds)?;
        let mut returned = Amount::ZERO;
        let mut legs = Vec::new();
        for wallet in wallets {
            let kind = wallet.kind().code();
            let amount = held.iter().find(|it| it.0 == kind).map_or(0, |it| it.1);
            let place = places.iter().find(|it| it.0 == kind).map(|it| it.1);
            let Some(place) = place.filter(|_| amount > 0) else { continue };
            let amount = Amount::from_nanodollars(amount);
            let sum = returned.checked_add(amount).ok_or_else(|| StoreError::Broken("funds overflow".into()));
            returned = self.keep(sum)?;
            legs.push((*wallet, place, amount));
        }
        if legs.is_empty() {
            return Ok(Outcome::Paid(Paid { transfers: 0, low: None }));
        }
        let count = fit(legs.len());
        let last = self.credit_all_at_once(to, returned.nanodollars(), count)?;
        let transfers = fit(legs.len());
        let legs: Vec<Leg> = (1..)
            .zip(legs)
            .map(|(number, (wallet, place, amount))| Leg {
                number,
                debit: (wallet, place),
                credit: (to, last - count + i64::from(number)),
                amount: amount.nanodollars(),
                points: payment.rate.points(amount),
                reason: payment.reason,
            })
            .collect();
        self.insert_transfers(payment, &legs)?;
        Ok(Outcome::Paid(Paid { transfers, low: None }))
    }

    /// Empties and closes open wallets of one user; answers the kind of each and the movements it then has.
    fn close(
        &mut self,
        payment: &Payment<'_>,
        owner: Id,
        kinds: &[i16],
    ) -> Result<Vec<(i16, i64)>, StoreError> {
        self.query(|conn| {
            diesel::update(accounts::table)
                .filter(accounts::owner_id.eq(owner).and(accounts::kind.eq_any(kinds)))
                .filter(accounts::closed_at.is_null())
                .set((
                    accounts::closed_at.eq(Some(At(payment.at))),
                    accounts::spent.eq(sql::<BigInt>(&format!(
                        "CASE WHEN spent > {SPENT_MAX} - balance THEN {SPENT_MAX} ELSE spent + balance END"
                    ))),
                    accounts::movements
                        .eq(sql::<BigInt>("movements + CASE WHEN balance > 0 THEN 1 ELSE 0 END")),
                    accounts::balance.eq(0),
                ))
                .returning((accounts::kind, accounts::movements))
                .get_results(conn)
        })
    }
}
