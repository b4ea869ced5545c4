//! The statements of a payment, each with a text that never changes, so that they stay prepared.

use diesel::prelude::*;
use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId};
use diesel::sql_types::{BigInt, Nullable, SmallInt};
use guerdon_domain::money::Amount;
use guerdon_domain::wallets::Account;

use super::super::super::{Conn, Db};
use crate::rows::types::{Id, Identifier};
use crate::statement::statement;

/// Where `spent` stops.
pub(super) const SPENT_MAX: i64 = i64::MAX;
/// Accounts of this kind and above stand for the world outside: nothing is made up for them.
const OUTSIDE: &str = "6";

statement! {
    /// So many movements into one open account.
    Credit -> BigInt {
        amount: BigInt = i64,
        count: BigInt = i64,
        owner: Identifier = Id,
        kind: SmallInt = i16,
    }
    "UPDATE accounts SET balance = balance + ?, movements = movements + ? WHERE owner_id = ? AND kind = ? \
     AND closed_at IS NULL RETURNING movements"
}

impl Credit {
    pub(super) fn of(account: Account, amount: i64, count: i64) -> Self {
        Self { owner: Id(account.owner()), kind: account.kind().code(), amount, count }
    }

    /// The place of the last of the movements; none where the account is closed or was never opened.
    pub(super) fn run(self, conn: &mut Conn) -> QueryResult<Option<i64>> {
        self.get_result(conn).optional()
    }
}

/// So many movements out of one open account, as one statement: it applies the funds rule, makes up what is short
/// within the tolerance, takes the places of the movements, and takes the lock.
pub(super) struct Debit {
    pub(super) owner: Id,
    pub(super) kind: i16,
    pub(super) count: i64,
    pub(super) total: i64,
    pub(super) spent: i64,
    pub(super) threshold: i64,
}

/// What a debit left behind.
pub(super) struct Debited {
    /// What was made up; a movement of its own, before the others.
    pub(super) made_up: i64,
    /// Where the first of the payments stands among the movements of the account.
    pub(super) first_place: i64,
    balance: i64,
    alert_below: Option<i64>,
}

impl Debited {
    /// What the account holds, where this debit of `total` took it from at or above its alert to below.
    pub(super) fn fell_below(&self, total: Amount) -> Option<Amount> {
        let alert = self.alert_below?;
        let before = i128::from(self.balance) + i128::from(total.nanodollars()) - i128::from(self.made_up);
        (before >= i128::from(alert) && self.balance < alert)
            .then_some(Amount::from_nanodollars(self.balance))
    }
}

impl Debit {
    /// None where the account is closed, was never opened, or does not cover the price.
    pub(super) fn run(self, conn: &mut Conn) -> QueryResult<Option<Debited>> {
        let count = self.count;
        let found: Option<(i64, i64, i64, Option<i64>)> = self.get_result(conn).optional()?;
        Ok(found.map(|(balance, made_up, movements, alert_below)| Debited {
            made_up,
            first_place: movements - count + 1,
            balance,
            alert_below,
        }))
    }
}

impl QueryId for Debit {
    type QueryId = Self;
    const HAS_STATIC_QUERY_ID: bool = true;
}

impl Query for Debit {
    type SqlType = (BigInt, BigInt, BigInt, Nullable<BigInt>);
}

impl RunQueryDsl<Conn> for Debit {}

impl QueryFragment<Db> for Debit {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Db>) -> QueryResult<()> {
        let is_short = format!("CASE WHEN kind < {OUTSIDE} AND balance < ");
        out.push_sql("UPDATE accounts SET made_up = ");
        out.push_sql(&is_short);
        out.push_bind_param::<BigInt, _>(&self.total)?;
        out.push_sql(" THEN ");
        out.push_bind_param::<BigInt, _>(&self.total)?;
        out.push_sql(" - balance ELSE 0 END, movements = movements + ");
        out.push_bind_param::<BigInt, _>(&self.count)?;
        out.push_sql(" + ");
        out.push_sql(&is_short);
        out.push_bind_param::<BigInt, _>(&self.total)?;
        out.push_sql(&format!(" THEN 1 ELSE 0 END, spent = CASE WHEN spent > {SPENT_MAX} - "));
        out.push_bind_param::<BigInt, _>(&self.spent)?;
        out.push_sql(&format!(" THEN {SPENT_MAX} ELSE spent + "));
        out.push_bind_param::<BigInt, _>(&self.spent)?;
        out.push_sql(" END, balance = ");
        out.push_sql(&is_short);
        out.push_bind_param::<BigInt, _>(&self.total)?;
        out.push_sql(" THEN 0 ELSE balance - ");
        out.push_bind_param::<BigInt, _>(&self.total)?;
        out.push_sql(" END WHERE owner_id = ");
        out.push_bind_param::<Identifier, _>(&self.owner)?;
        out.push_sql(" AND kind = ");
        out.push_bind_param::<SmallInt, _>(&self.kind)?;
        out.push_sql(" AND closed_at IS NULL AND balance >= ");
        out.push_bind_param::<BigInt, _>(&self.threshold)?;
        out.push_sql(" RETURNING balance, made_up, movements, alert_below");
        Ok(())
    }
}

/// Takes a fraction of a point from a rounding account; answers the place of the movement there.
pub(super) fn make_up(conn: &mut Conn, rounding: Account, amount: i64) -> QueryResult<i64> {
    use crate::rows::schema::accounts;
    diesel::update(accounts::table.find((Id(rounding.owner()), rounding.kind().code())))
        .set((
            accounts::balance.eq(accounts::balance - amount),
            accounts::movements.eq(accounts::movements + 1),
        ))
        .returning(accounts::movements)
        .get_result(conn)
}
