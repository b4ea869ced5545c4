//! Writes the results of a batch in one round trip: a single statement updates the accounts and inserts the
//! rows of all tables. Its SQL does not depend on the number of rows, so it stays prepared.

use diesel::pg::Pg;
use diesel::prelude::*;
use diesel::query_builder::{AstPass, QueryFragment, QueryId};
use guerdon_domain::ledger::{AccountBook, Changes};
use guerdon_domain::ports::NewEvent;

use super::Conn;
use super::accounts::UpdateAccounts;
use super::inserts::Insert;
use crate::rows::schema::{idempotency_records, mails, users};
use crate::rows::types::{At, Id};
use crate::rows::{
    AccountStateRow, DeliveryRow, EventRow, IdempotencyRow, JournalEntryRow, MailRow, NewRecognitionRow,
    TransferRow,
};
use crate::slices::{STATEMENT_BYTES, slices};

/// The statement. The accounts are already locked, so it waits for no lock.
struct Write<'r> {
    accounts: UpdateAccounts<'r>,
    journal_entries: Insert<'r, JournalEntryRow<'r>>,
    recognitions: Insert<'r, NewRecognitionRow>,
    transfers: Insert<'r, TransferRow>,
    events: Insert<'r, EventRow<'r>>,
    deliveries: Insert<'r, DeliveryRow>,
    records: Insert<'r, IdempotencyRow>,
}

impl QueryId for Write<'_> {
    type QueryId = Write<'static>;
    const HAS_STATIC_QUERY_ID: bool = true;
}

impl RunQueryDsl<PgConnection> for Write<'_> {}

impl QueryFragment<Pg> for Write<'_> {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        let parts: [(&str, &'b dyn QueryFragment<Pg>); 6] = [
            ("WITH a AS (", &self.accounts),
            (", c AS (", &self.journal_entries),
            (", r AS (", &self.recognitions),
            (", t AS (", &self.transfers),
            (", e AS (", &self.events),
            (", d AS (", &self.deliveries),
        ];
        for (name, part) in parts {
            out.push_sql(name);
            part.walk_ast(out.reborrow())?;
            out.push_sql(")");
        }
        out.push_sql(" ");
        self.records.walk_ast(out)
    }
}

fn rows(events: &[NewEvent]) -> (Vec<EventRow<'_>>, Vec<DeliveryRow>) {
    (events.iter().map(EventRow::of).collect(), events.iter().map(DeliveryRow::of).collect())
}

/// Writes the changes, and the accounts and transfers of the book.
pub(crate) fn write_changes(conn: &mut Conn, changes: &Changes, book: &AccountBook) -> QueryResult<()> {
    for key in &changes.replaced_records {
        diesel::delete(idempotency_records::table.find((Id(key.scope), &key.key))).execute(conn)?;
    }
    let accounts: Vec<AccountStateRow> = book.changed().map(AccountStateRow::of).collect();
    let journal_entries: Vec<JournalEntryRow<'_>> =
        changes.journal_entries.iter().map(JournalEntryRow::of).collect();
    let recognitions = &changes.recognitions;
    let recognitions: Vec<NewRecognitionRow> = recognitions
        .iter()
        .map(|(cause, leg, recognition)| NewRecognitionRow::of(*cause, *leg, recognition))
        .collect();
    let transfers: Vec<TransferRow> = book.transfers().iter().map(TransferRow::of).collect();
    let bodies: usize = changes.events.iter().map(|event| event.body.len()).sum();
    let (events, large) =
        if bodies <= STATEMENT_BYTES { (&*changes.events, &[][..]) } else { (&[][..], &*changes.events) };
    let (event_rows, deliveries) = rows(events);
    let records: Vec<IdempotencyRow> = changes.records.iter().map(IdempotencyRow::of).collect();
    let write = Write {
        accounts: UpdateAccounts::of(&accounts),
        journal_entries: Insert::of(&journal_entries),
        recognitions: Insert::of(&recognitions),
        transfers: Insert::of(&transfers),
        events: Insert::of(&event_rows),
        deliveries: Insert::of(&deliveries),
        records: Insert::of(&records),
    };
    write.execute(conn)?;
    for slice in slices(large, large.len(), |event| event.body.len()) {
        let (event_rows, deliveries) = rows(slice);
        Insert::of(&event_rows).execute(conn)?;
        Insert::of(&deliveries).execute(conn)?;
    }
    for (user, at) in &changes.deleted_users {
        diesel::update(users::table.find(Id(*user)))
            .set((users::deleted_at.eq(Some(At(*at))), users::updated_at.eq(At(*at))))
            .execute(conn)?;
    }
    if !changes.mails.is_empty() {
        let rows: Vec<MailRow<'_>> = changes.mails.iter().map(MailRow::of).collect();
        diesel::insert_into(mails::table).values(&rows).execute(conn)?;
    }
    Ok(())
}
