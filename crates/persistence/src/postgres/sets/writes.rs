//! What a set of postings comes to, written by one statement.

use diesel::pg::Pg;
use diesel::pg::sql_types::Array;
use diesel::prelude::*;
use diesel::query_builder::{AstPass, QueryFragment, QueryId};
use diesel::sql_types::{BigInt, SmallInt};
use guerdon_domain::books::Held;
use guerdon_domain::ports::StoreError;
use guerdon_domain::wallets::Account;

use super::super::classify;
use super::super::columns::{ArrayOf, Kept, columns};
use super::super::inserts::{Causes, Deliveries, Events, Recognitions, Records, Transfers};
use crate::postings::Set;
use crate::rows::types::{Id, Identifier};
use crate::rows::{CauseRow, DeliveryRow, EventRow, IdempotencyRow, NewRecognitionRow, TransferRow};

/// What has become of an account.
pub(super) struct Change {
    owner_id: Id,
    kind: i16,
    balance: i64,
    spent: i64,
    movements: i64,
    made_up: i64,
}

impl Change {
    fn of((account, held): (&Account, &Held)) -> Self {
        Self {
            owner_id: Id(account.owner()),
            kind: account.kind().code(),
            balance: held.balance.nanodollars(),
            spent: held.spent.nanodollars(),
            movements: held.movements,
            made_up: held.made_up.nanodollars(),
        }
    }
}

columns! {
    Changes of Change, in "accounts" {
        owner_id: Identifier = Id,
        kind: SmallInt = i16,
        balance: BigInt = i64,
        spent: BigInt = i64,
        movements: BigInt = i64,
        made_up: BigInt = i64,
    }
}

/// All of a set. The accounts are held already, so that none of this waits for anybody.
struct Write {
    changes: Changes,
    causes: Causes,
    recognitions: Recognitions,
    transfers: Transfers,
    events: Events,
    deliveries: Deliveries,
    records: Records,
}

impl QueryId for Write {
    type QueryId = Self;
    const HAS_STATIC_QUERY_ID: bool = true;
}

impl RunQueryDsl<PgConnection> for Write {}

impl QueryFragment<Pg> for Write {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        out.push_sql(
            "WITH a AS (UPDATE accounts AS a SET balance = new.balance, spent = new.spent, \
             movements = new.movements, made_up = new.made_up FROM ",
        );
        self.changes.unnest(out.reborrow())?;
        out.push_sql(" AS new (");
        out.push_sql(Changes::names());
        out.push_sql(") WHERE a.owner_id = new.owner_id AND a.kind = new.kind)");
        let inserts: [(&str, &'b dyn QueryFragment<Pg>); 5] = [
            (", c AS (", &self.causes),
            (", r AS (", &self.recognitions),
            (", t AS (", &self.transfers),
            (", e AS (", &self.events),
            (", d AS (", &self.deliveries),
        ];
        for (name, insert) in inserts {
            out.push_sql(name);
            insert.walk_ast(out.reborrow())?;
            out.push_sql(")");
        }
        out.push_sql(" ");
        self.records.walk_ast(out)
    }
}

/// Writes what the postings of a set come to.
pub(super) fn write(conn: &mut PgConnection, set: &Set) -> Result<(), StoreError> {
    let changes: Vec<Change> = set.changed().map(Change::of).collect();
    let causes: Vec<CauseRow<'_>> = set.causes.iter().map(CauseRow::of).collect();
    let recognitions =
        set.recognitions.iter().map(|(cause, leg, it)| NewRecognitionRow::of(*cause, *leg, it));
    let transfers: Vec<TransferRow> = set.books.transfers().iter().map(TransferRow::of_transfer).collect();
    let events: Vec<EventRow<'_>> = set.events.iter().map(EventRow::of).collect();
    let deliveries: Vec<DeliveryRow> = set.events.iter().map(DeliveryRow::of).collect();
    let records: Vec<IdempotencyRow> = set.records.iter().map(IdempotencyRow::of).collect();
    let write = Write {
        changes: Changes::of(&changes),
        causes: Causes::of(&causes),
        recognitions: Recognitions::of(&recognitions.collect::<Vec<_>>()),
        transfers: Transfers::of(&transfers),
        events: Events::of(&events),
        deliveries: Deliveries::of(&deliveries),
        records: Records::of(&records),
    };
    write.execute(conn).map(drop).map_err(|e| classify(&e))
}
