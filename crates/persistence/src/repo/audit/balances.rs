//! Compares each account with its entries: accounts are read in the order of their owners, entries by their
//! numbers.

use std::collections::VecDeque;

use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, SmallInt};
use guerdon_domain::audit::{AccountJudge, Findings, Held, Side, Touch};
use guerdon_domain::journal::Act;
use guerdon_domain::money::{Amount, PointsPerDollar};
use guerdon_domain::ports::StoreError;
use guerdon_domain::wallets::{AccountKind, Reason};

use guerdon_domain::values::{JournalEntryId, fit};

use super::super::super::{Conn, movements};
use super::super::Unit;
use crate::rows::AccountFact;
use crate::rows::schema::accounts;
use crate::rows::types::{Id, Identifier};

const PAGE: i64 = 10_000;

/// An account: owner and kind.
type Key = (Id, i16);

/// An entry: account owner, account kind, entry number, amount, reason and journal entry.
type TouchRow = (Id, i16, i64, i64, i16, Id<JournalEntryId>);
type Touched = (Identifier, SmallInt, BigInt, BigInt, SmallInt, Identifier);

/// One side of all transfers, ordered by account and entry number.
struct Touches {
    side: Side,
    page: VecDeque<TouchRow>,
    last: Option<(Key, i64)>,
    is_over: bool,
}

impl Touches {
    fn of(side: Side) -> Self {
        Self { side, page: VecDeque::new(), last: None, is_over: false }
    }

    /// Reads the next page.
    fn turn(&mut self, conn: &mut Conn) -> QueryResult<()> {
        let side = match self.side {
            Side::Debit => "debit",
            Side::Credit => "credit",
        };
        let (from, key) = movements(side);
        // A single row comparison, so that the index scan starts where the page starts, however long an
        // account's history is.
        let key = format!("{key}.{side}_owner, {key}.{side}_kind, {key}.{side}_place");
        let query =
            sql::<Touched>(&format!("SELECT {key}, t.amount, t.reason, t.journal_entry_id FROM {from} "));
        let page = format!("ORDER BY {key} LIMIT {PAGE}");
        let rows: Vec<TouchRow> = match self.last {
            None => query.sql(&page).get_results(conn)?,
            Some(((owner, kind), place)) => query
                .sql(&format!("WHERE ({key}) > ("))
                .bind::<Identifier, _>(owner)
                .sql(", ")
                .bind::<SmallInt, _>(kind)
                .sql(", ")
                .bind::<BigInt, _>(place)
                .sql(&format!(") {page}"))
                .get_results(conn)?,
        };
        self.last = rows.last().map(|row| ((row.0, row.1), row.2));
        self.is_over = rows.is_empty();
        self.page = rows.into();
        Ok(())
    }
}

impl Unit<'_> {
    pub(super) fn audit_balances(&mut self, findings: &mut Findings) -> Result<(), StoreError> {
        let (mut debits, mut credits) = (Touches::of(Side::Debit), Touches::of(Side::Credit));
        let mut behind: Option<Key> = None;
        loop {
            let page = self.accounts_after(behind)?;
            let Some(last) = page.last() else { break };
            behind = Some((last.owner_id, last.kind));
            findings.checked.accounts += fit::<u64, _>(page.len());
            for account in &page {
                self.judge_account(account.held(), &mut debits, &mut credits, findings)?;
            }
        }
        for touches in [&mut debits, &mut credits] {
            while let Some((owner, kind)) = self.peek(touches)? {
                touches.page.pop_front();
                no_account((owner, kind), findings);
            }
        }
        Ok(())
    }

    fn judge_account(
        &mut self,
        held: Held,
        debits: &mut Touches,
        credits: &mut Touches,
        findings: &mut Findings,
    ) -> Result<(), StoreError> {
        let key = (Id(held.owner), held.kind);
        let mut judge = AccountJudge::new(held);
        loop {
            let sides = [self.peek(debits)?, self.peek(credits)?];
            for (side, touches) in sides.into_iter().zip([&mut *debits, &mut *credits]) {
                if side.is_some_and(|account| account < key) {
                    touches.page.pop_front();
                    no_account(side.unwrap_or(key), findings);
                }
            }
            if sides.iter().flatten().any(|account| *account < key) {
                continue;
            }
            let at = |touches: &Touches, there: Option<Key>| {
                touches.page.front().filter(|_| there == Some(key)).map(|touch| touch.2)
            };
            let [debit, credit] = sides;
            let touches = match (at(debits, debit), at(credits, credit)) {
                (None, None) => break,
                (Some(debit), credit) if credit.is_none_or(|credit| debit <= credit) => &mut *debits,
                _ => &mut *credits,
            };
            let Some((_, _, place, amount, reason, cause)) = touches.page.pop_front() else { break };
            let touch = Touch { side: touches.side, place, amount, reason, cause: cause.0 };
            let balance = judge.touch(&touch, findings);
            if reason == Reason::Override.code() && held.kind <= AccountKind::ManagerWallet.code() {
                self.judge_override(&held, cause, balance, findings)?;
            }
        }
        judge.end(findings);
        Ok(())
    }

    /// A wallet that was overridden shows the requested points.
    fn judge_override(
        &mut self,
        held: &Held,
        cause: Id<JournalEntryId>,
        balance: i128,
        findings: &mut Findings,
    ) -> Result<(), StoreError> {
        let found = self.journal_entries_of(&[cause])?.remove(&cause);
        let cause = found.and_then(|found| found.read().ok());
        let fits = cause.is_some_and(|cause| match cause.act {
            Act::Override { points, .. } => shows(cause.rate, balance) == Some(points.get()),
            _ => false,
        });
        findings.demand(fits, "override", || {
            let name = AccountKind::stored_name(held.kind);
            format!("{name} of {} holds {balance} nano-dollars after its override", held.owner)
        });
        Ok(())
    }

    fn accounts_after(&mut self, behind: Option<Key>) -> Result<Vec<AccountFact>, StoreError> {
        let all = accounts::table
            .order((accounts::owner_id, accounts::kind))
            .limit(PAGE)
            .select(AccountFact::as_select());
        self.query(|conn| match behind {
            None => all.get_results(conn),
            Some((owner, kind)) => all
                .filter(accounts::owner_id.ge(owner))
                .filter(accounts::owner_id.gt(owner).or(accounts::kind.gt(kind)))
                .get_results(conn),
        })
    }

    /// The account of the next entry of a side.
    fn peek(&mut self, touches: &mut Touches) -> Result<Option<Key>, StoreError> {
        if touches.page.is_empty() && !touches.is_over {
            self.query(|conn| touches.turn(conn))?;
        }
        Ok(touches.page.front().map(|touch| (touch.0, touch.1)))
    }
}

fn no_account((owner, kind): Key, findings: &mut Findings) {
    findings.add("transfer's account", || {
        format!("a transfer names {} of {}, which is missing", AccountKind::stored_name(kind), owner.0)
    });
}

fn shows(rate: PointsPerDollar, balance: i128) -> Option<i64> {
    i64::try_from(balance).ok().map(|nanodollars| rate.points(Amount::from_nanodollars(nanodollars)).get())
}
