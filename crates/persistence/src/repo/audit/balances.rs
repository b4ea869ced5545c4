//! The accounts in the order of their owners, each beside its movements in the order of their places.

use std::collections::VecDeque;

use diesel::prelude::*;
use diesel::sql_types::{BigInt, SmallInt};
use guerdon_domain::audit::{AccountJudge, Findings, Held, Side, Touch};
use guerdon_domain::causes::Act;
use guerdon_domain::money::{Amount, PointsPerDollar};
use guerdon_domain::ports::StoreError;
use guerdon_domain::wallets::{AccountKind, Reason};

use super::super::super::place;
use super::super::Unit;
use crate::rows::AccountFact;
use crate::schema::accounts;
use crate::types::{Id, Identifier};

const PAGE: i64 = 10_000;

/// An account: owner and kind.
type Key = (Id, i16);

#[derive(QueryableByName)]
struct TouchRow {
    #[diesel(sql_type = Identifier)]
    owner: Id,
    #[diesel(sql_type = SmallInt)]
    kind: i16,
    #[diesel(sql_type = BigInt)]
    place: i64,
    #[diesel(sql_type = BigInt)]
    amount: i64,
    #[diesel(sql_type = SmallInt)]
    reason: i16,
    #[diesel(sql_type = Identifier)]
    cause_id: Id,
}

/// One side of all transfers, in the order of accounts and places.
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

    fn query(&self) -> String {
        let name = match self.side {
            Side::Debit => "debit",
            Side::Credit => "credit",
        };
        let behind = match self.last {
            None => String::new(),
            Some(_) => format!(
                "WHERE ({name}_owner, {name}_kind, {name}_place) > ({}, {}, {}) ",
                place(1),
                place(2),
                place(3)
            ),
        };
        format!(
            "SELECT {name}_owner AS owner, {name}_kind AS kind, {name}_place AS place, amount, reason, cause_id \
             FROM transfers {behind}ORDER BY {name}_owner, {name}_kind, {name}_place LIMIT {PAGE}"
        )
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
                if side.is_some_and(|it| it < key) {
                    touches.page.pop_front();
                    no_account(side.unwrap_or(key), findings);
                }
            }
            if sides.iter().flatten().any(|it| *it < key) {
                continue;
            }
            let at = |touches: &Touches, there: Option<Key>| {
                touches.page.front().filter(|_| there == Some(key)).map(|it| it.place)
            };
            let [debit, credit] = sides;
            let touches = match (at(debits, debit), at(credits, credit)) {
                (None, None) => break,
                (Some(debit), credit) if credit.is_none_or(|it| debit <= it) => &mut *debits,
                _ => &mut *credits,
            };
            let Some(it) = touches.page.pop_front() else { break };
            let (place, amount, reason, cause) = (it.place, it.amount, it.reason, it.cause_id.0);
            let balance = judge.touch(&Touch { side: touches.side, place, amount, reason, cause }, findings);
            if it.reason == Reason::Override.code() && held.kind <= AccountKind::ManagerWallet.code() {
                self.judge_override(&held, it.cause_id, balance, findings)?;
            }
        }
        judge.end(findings);
        Ok(())
    }

    /// A wallet that was replaced shows what it was to show.
    fn judge_override(
        &mut self,
        held: &Held,
        cause: Id,
        balance: i128,
        findings: &mut Findings,
    ) -> Result<(), StoreError> {
        let found = self.causes_of(&[cause])?.remove(&cause);
        let cause = found.and_then(|it| it.read().ok());
        let fits = cause.is_some_and(|it| match it.act {
            Act::Override { points, .. } => shows(it.rate, balance) == Some(points.get()),
            _ => false,
        });
        findings.demand(fits, "override", || {
            format!("account {} of {} stands at {balance} after its override", held.kind, held.owner)
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

    /// Whose the next movement of a side is.
    fn peek(&mut self, touches: &mut Touches) -> Result<Option<Key>, StoreError> {
        if touches.page.is_empty() && !touches.is_over {
            let query = diesel::sql_query(touches.query());
            let rows: Vec<TouchRow> = self.query(|conn| match touches.last {
                None => query.get_results(conn),
                Some(((owner, kind), place)) => query
                    .bind::<Identifier, _>(owner)
                    .bind::<SmallInt, _>(kind)
                    .bind::<BigInt, _>(place)
                    .get_results(conn),
            })?;
            touches.last = rows.last().map(|it| ((it.owner, it.kind), it.place));
            touches.is_over = rows.is_empty();
            touches.page = rows.into();
        }
        Ok(touches.page.front().map(|it| (it.owner, it.kind)))
    }
}

fn no_account((owner, kind): Key, findings: &mut Findings) {
    findings.add("transfer's account", || {
        format!("a transfer names account {kind} of {}, which is missing", owner.0)
    });
}

fn shows(rate: PointsPerDollar, balance: i128) -> Option<i64> {
    i64::try_from(balance).ok().map(|it| rate.points(Amount::from_nanodollars(it)).get())
}
