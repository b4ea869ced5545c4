//! Posting a payment: the conditional updates on which the safety of the money rests.

use diesel::prelude::*;
use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId};
use diesel::sql_types::{BigInt, SmallInt};
use guerdon_domain::money::Amount;
use guerdon_domain::ports::{Outcome, Payment, StoreError};
use guerdon_domain::wallets::Account;

use super::super::{BINDS, Conn, Db};
use super::Unit;
use crate::rows::TransferRow;
use crate::schema::{accounts, transfers};
use crate::types::{Id, Identifier};

/// How many accounts one statement credits.
const SLICE: usize = 10_000;

impl Unit<'_> {
    /// Locks are taken in the program's one order: receivers by class and id, the payer, the rounding account.
    pub(super) fn post_one(&mut self, payment: &Payment<'_>) -> Result<Outcome, StoreError> {
        if payment.price.each.is_zero() {
            return self.post_nothing(payment);
        }
        self.enter(&crate::gate::accounts_of(payment))?;
        let sole_payer = match payment.payers {
            [one] => Some(*one),
            _ => None,
        };
        if let Some(payer) = sole_payer {
            self.insert_credits(payment, payer)?; // before any lock is taken: the payer may be hot
        }
        if !self.credit_all(payment)? {
            return Ok(Outcome::ReceiverClosed);
        }
        for payer in payment.payers {
            let Some((after, made_up)) = self.debit(payment, *payer)? else { continue };
            if sole_payer.is_none() {
                self.insert_credits(payment, *payer)?;
            }
            if made_up > 0 {
                self.make_up(payment, *payer, made_up)?;
            }
            return self.keep(outcome(payment, *payer, after, made_up));
        }
        Ok(Outcome::Insufficient)
    }

    /// A payment of zero points: payer and receivers must be there, nothing moves.
    fn post_nothing(&mut self, payment: &Payment<'_>) -> Result<Outcome, StoreError> {
        for slice in payment.credits.chunks(SLICE) {
            let Some(kind) = slice.first().map(|it| it.to.kind().code()) else { continue };
            let owners: Vec<Id> = slice.iter().map(|it| Id(it.to.owner())).collect();
            if !self.hold_open(kind, owners)? {
                return Ok(Outcome::ReceiverClosed);
            }
        }
        let payer = payment.payers.first().copied().unwrap_or(Account::Reserve(payment.company));
        if !self.hold_open(payer.kind().code(), vec![Id(payer.owner())])? {
            return Ok(Outcome::Insufficient);
        }
        Ok(Outcome::Paid { payer, before: Amount::ZERO, after: Amount::ZERO })
    }

    /// Whether all of these accounts are open; those that are stay so until the transaction ends.
    fn hold_open(&mut self, kind: i16, mut owners: Vec<Id>) -> Result<bool, StoreError> {
        owners.sort_unstable();
        self.query(|conn| super::super::lock_accounts(conn, kind, &owners))?;
        let open: i64 = self.query(|conn| {
            accounts::table
                .filter(accounts::kind.eq(kind).and(accounts::owner_id.eq_any(&owners)))
                .filter(accounts::closed_at.is_null())
                .count()
                .get_result(conn)
        })?;
        Ok(usize::try_from(open) == Ok(owners.len()))
    }

    fn insert_credits(&mut self, payment: &Payment<'_>, payer: Account) -> Result<(), StoreError> {
        for slice in payment.credits.chunks(BINDS / TransferRow::COLUMNS) {
            let rows: Vec<TransferRow> =
                slice.iter().map(|it| TransferRow::of_credit(payment, payer, it)).collect();
            self.insert_transfers(&rows)?;
        }
        Ok(())
    }

    /// Adds up to a slice of transfers.
    pub(super) fn insert_transfers(&mut self, rows: &[TransferRow]) -> Result<(), StoreError> {
        self.query(|conn| match rows {
            [one] => diesel::insert_into(transfers::table).values(one).execute(conn),
            many => diesel::insert_into(transfers::table).values(many).execute(conn),
        })?;
        Ok(())
    }

    /// Credits every receiver, in the order of their ids; `false` where one is closed or was never opened.
    fn credit_all(&mut self, payment: &Payment<'_>) -> Result<bool, StoreError> {
        let each = payment.price.each;
        if let [one] = payment.credits {
            return Ok(self.credit_one(one.to, each)? == 1);
        }
        let Some(kind) = payment.credits.first().map(|it| it.to.kind().code()) else { return Ok(true) };
        let mut owners: Vec<Id> = payment.credits.iter().map(|it| Id(it.to.owner())).collect();
        owners.sort_unstable();
        for slice in owners.chunks(SLICE) {
            self.query(|conn| super::super::lock_accounts(conn, kind, slice))?;
            let credited = self.query(|conn| {
                diesel::update(accounts::table)
                    .filter(accounts::kind.eq(kind).and(accounts::owner_id.eq_any(slice)))
                    .filter(accounts::closed_at.is_null())
                    .set(accounts::credits.eq(accounts::credits + each.nanodollars()))
                    .execute(conn)
            })?;
            if credited != slice.len() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Credits one open account; answers how many rows that were.
    pub(super) fn credit_one(&mut self, account: Account, amount: Amount) -> Result<usize, StoreError> {
        let (owner, kind) = (account.owner(), account.kind().code());
        self.query(|conn| Credit { owner: Id(owner), kind, amount: amount.nanodollars() }.execute(conn))
    }

    /// Debits the payer where it is open and covers the price; answers its balance afterwards and what was made up.
    fn debit(&mut self, payment: &Payment<'_>, payer: Account) -> Result<Option<(i64, i64)>, StoreError> {
        let total = payment.price.total.nanodollars();
        if payer.kind().is_outside() {
            let balance: Option<i64> = self.query(|conn| {
                diesel::update(accounts::table.find((Id(payer.owner()), payer.kind().code())))
                    .set(accounts::debits.eq(accounts::debits + total))
                    .returning(accounts::credits - accounts::debits)
                    .get_result(conn)
                    .optional()
            })?;
            return Ok(balance.map(|it| (it, 0)));
        }
        let debit = Debit {
            owner: Id(payer.owner()),
            kind: payer.kind().code(),
            total,
            spent: if payment.counts_as_spent { total } else { 0 },
            threshold: payment.price.threshold.nanodollars(),
        };
        self.query(|conn| debit.get_result::<(i64, i64)>(conn).optional())
    }

    /// The fraction of a point that the payer was short of comes from the company's rounding account.
    fn make_up(&mut self, payment: &Payment<'_>, payer: Account, made_up: i64) -> Result<(), StoreError> {
        let rounding = Account::Rounding(payment.company);
        self.query(|conn| {
            diesel::update(accounts::table.find((Id(rounding.owner()), rounding.kind().code())))
                .set(accounts::debits.eq(accounts::debits + made_up))
                .execute(conn)
        })?;
        self.insert_transfers(&[TransferRow::of_rounding(payment, payer, made_up)])
    }
}

/// What the payer held before is what it holds now, and the price, less what was made up.
fn outcome(payment: &Payment<'_>, payer: Account, after: i64, made_up: i64) -> Result<Outcome, StoreError> {
    let before = payment
        .price
        .total
        .checked_sub(Amount::from_nanodollars(made_up))
        .and_then(|paid| paid.checked_add(Amount::from_nanodollars(after)))
        .ok_or_else(|| StoreError::Broken("a balance is out of range".into()))?;
    Ok(Outcome::Paid { payer, before, after: Amount::from_nanodollars(after) })
}

/// `credits + amount` on one open account, as a statement that stays prepared.
struct Credit {
    owner: Id,
    kind: i16,
    amount: i64,
}

impl QueryId for Credit {
    type QueryId = Self;
    const HAS_STATIC_QUERY_ID: bool = true;
}

impl RunQueryDsl<Conn> for Credit {}

impl QueryFragment<Db> for Credit {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Db>) -> QueryResult<()> {
        out.push_sql("UPDATE accounts SET credits = credits + ");
        out.push_bind_param::<BigInt, _>(&self.amount)?;
        out.push_sql(" WHERE owner_id = ");
        out.push_bind_param::<Identifier, _>(&self.owner)?;
        out.push_sql(" AND kind = ");
        out.push_bind_param::<SmallInt, _>(&self.kind)?;
        out.push_sql(" AND closed_at IS NULL");
        Ok(())
    }
}

/// A payment out of one account, as one statement that stays prepared: it applies the funds rule, makes up what is
/// short within the tolerance, and takes the lock.
struct Debit {
    owner: Id,
    kind: i16,
    total: i64,
    spent: i64,
    threshold: i64,
}

impl QueryId for Debit {
    type QueryId = Self;
    const HAS_STATIC_QUERY_ID: bool = true;
}

impl Query for Debit {
    type SqlType = (BigInt, BigInt);
}

impl RunQueryDsl<Conn> for Debit {}

impl QueryFragment<Db> for Debit {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Db>) -> QueryResult<()> {
        let greatest = super::super::GREATEST;
        out.push_sql("UPDATE accounts SET debits = debits + ");
        out.push_bind_param::<BigInt, _>(&self.total)?;
        for column in ["made_up = ", "credits = credits + "] {
            out.push_sql(", ");
            out.push_sql(column);
            out.push_sql(greatest);
            out.push_sql("(0, ");
            out.push_bind_param::<BigInt, _>(&self.total)?;
            out.push_sql(" - (credits - debits))");
        }
        out.push_sql(", spent = spent + ");
        out.push_bind_param::<BigInt, _>(&self.spent)?;
        out.push_sql(" WHERE owner_id = ");
        out.push_bind_param::<Identifier, _>(&self.owner)?;
        out.push_sql(" AND kind = ");
        out.push_bind_param::<SmallInt, _>(&self.kind)?;
        out.push_sql(" AND closed_at IS NULL AND credits - debits >= ");
        out.push_bind_param::<BigInt, _>(&self.threshold)?;
        out.push_sql(" RETURNING credits - debits, made_up");
        Ok(())
    }
}
