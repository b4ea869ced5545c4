//! What a set of postings comes to, written by one statement.

use diesel::pg::Pg;
use diesel::prelude::*;
use diesel::query_builder::{AstPass, QueryFragment, QueryId};
use guerdon_domain::ports::StoreError;

use super::super::accounts::UpdateAccounts;
use super::super::classify;
use super::super::inserts::{Causes, Deliveries, Events, Recognitions, Records, Transfers};
use crate::postings::Set;
use crate::rows::{
    AccountStateRow, CauseRow, DeliveryRow, EventRow, IdempotencyRow, NewRecognitionRow, TransferRow,
};

/// All of a set. The accounts are held already, so that none of this waits for anybody.
struct Write {
    accounts: UpdateAccounts,
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
        out.push_sql("WITH a AS (");
        self.accounts.walk_ast(out.reborrow())?;
        out.push_sql(")");
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
    let accounts: Vec<AccountStateRow> = set.book.changed().map(AccountStateRow::of).collect();
    let causes: Vec<CauseRow<'_>> = set.causes.iter().map(CauseRow::of).collect();
    let recognitions =
        set.recognitions.iter().map(|(cause, leg, it)| NewRecognitionRow::of(*cause, *leg, it));
    let transfers: Vec<TransferRow> = set.book.transfers().iter().map(TransferRow::of).collect();
    let events: Vec<EventRow<'_>> = set.events.iter().map(EventRow::of).collect();
    let deliveries: Vec<DeliveryRow> = set.events.iter().map(DeliveryRow::of).collect();
    let records: Vec<IdempotencyRow> = set.records.iter().map(IdempotencyRow::of).collect();
    let write = Write {
        accounts: UpdateAccounts::of(&accounts),
        causes: Causes::of(&causes),
        recognitions: Recognitions::of(&recognitions.collect::<Vec<_>>()),
        transfers: Transfers::of(&transfers),
        events: Events::of(&events),
        deliveries: Deliveries::of(&deliveries),
        records: Records::of(&records),
    };
    write.execute(conn).map(drop).map_err(|e| classify(&e))
}
