//! Writes the results of a batch in one round trip: a single statement updates the accounts and inserts the
//! rows of all tables. Its SQL does not depend on the number of rows, so it stays prepared. On Citus, each
//! table needs a separate statement.

use diesel::pg::Pg;
use diesel::prelude::*;
use diesel::query_builder::{AstPass, QueryFragment, QueryId};
use guerdon_domain::ledger::{AccountBook, Changes};
use guerdon_domain::ports::NewEvent;

use super::accounts::UpdateAccounts;
use super::insert_rows::InsertRows;
use super::{BOUND_VALUES_MAX, Conn};
use crate::failpoint::{failpoint, is_mutant};
use crate::rows::schema::{
    deliveries, events, idempotency_records, journal_entries, recognitions, transfers,
};
use crate::rows::{
    AccountStateRow, DeliveryRow, EventRow, IdempotencyRow, JournalEntryRow, NewRecognitionRow, TransferRow,
};
use crate::statement_chunks::{STATEMENT_BYTES, split_into_statements};
use crate::write_form::WriteForm;

/// The statement that writes a batch. The accounts are already locked, so it waits for no lock.
struct WriteBatch<'r> {
    accounts: UpdateAccounts<'r>,
    journal_entries: InsertRows<'r, JournalEntryRow<'r>>,
    recognitions: InsertRows<'r, NewRecognitionRow>,
    transfers: InsertRows<'r, TransferRow>,
    events: InsertRows<'r, EventRow<'r>>,
    deliveries: InsertRows<'r, DeliveryRow>,
    records: InsertRows<'r, IdempotencyRow>,
}

impl QueryId for WriteBatch<'_> {
    type QueryId = WriteBatch<'static>;
    const HAS_STATIC_QUERY_ID: bool = true;
}

impl RunQueryDsl<PgConnection> for WriteBatch<'_> {}

impl QueryFragment<Pg> for WriteBatch<'_> {
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

/// Inserts rows with statements that list their values.
macro_rules! insert_listed {
    ($conn:expr, $table:expr, $row:ty, $rows:expr) => {
        for rows in $rows.chunks(BOUND_VALUES_MAX / <$row>::COLUMNS) {
            diesel::insert_into($table).values(rows).execute($conn)?;
        }
    };
}

fn event_rows(events: &[NewEvent]) -> (Vec<EventRow<'_>>, Vec<DeliveryRow>) {
    (
        events.iter().map(EventRow::from_event).collect(),
        events.iter().map(DeliveryRow::for_new_event).collect(),
    )
}

/// The rows that are written together.
#[derive(Default)]
struct BatchRows<'r> {
    accounts: Vec<AccountStateRow>,
    journal_entries: Vec<JournalEntryRow<'r>>,
    recognitions: Vec<NewRecognitionRow>,
    transfers: Vec<TransferRow>,
    events: Vec<EventRow<'r>>,
    deliveries: Vec<DeliveryRow>,
    records: Vec<IdempotencyRow>,
}

impl<'r> BatchRows<'r> {
    /// Collects the rows of `changes`, of the accounts in `book`, and of `events`.
    fn new(changes: &'r Changes, book: &AccountBook, events: &'r [NewEvent]) -> Self {
        let forgotten = usize::from(is_mutant("forget_account"));
        let recognitions = &changes.recognitions;
        let (events, deliveries) = event_rows(events);
        Self {
            accounts: book.changed_accounts().skip(forgotten).map(AccountStateRow::from_state).collect(),
            journal_entries: changes.journal_entries.iter().map(JournalEntryRow::from_entry).collect(),
            recognitions: recognitions
                .iter()
                .map(|(entry_id, leg, recognition)| {
                    NewRecognitionRow::from_recognition(*entry_id, *leg, recognition)
                })
                .collect(),
            transfers: book.transfers().iter().map(TransferRow::from_transfer).collect(),
            events,
            deliveries,
            records: changes.idempotency_records.iter().map(IdempotencyRow::from_record).collect(),
        }
    }

    fn write(&self, conn: &mut Conn, form: WriteForm) -> QueryResult<()> {
        let Self { accounts, journal_entries, recognitions, transfers, events, deliveries, records } = self;
        match form {
            WriteForm::OneStatement => {
                let write = WriteBatch {
                    accounts: UpdateAccounts::from_rows(accounts),
                    journal_entries: InsertRows::from_rows(journal_entries),
                    recognitions: InsertRows::from_rows(recognitions),
                    transfers: InsertRows::from_rows(transfers),
                    events: InsertRows::from_rows(events),
                    deliveries: InsertRows::from_rows(deliveries),
                    records: InsertRows::from_rows(records),
                };
                write.execute(conn)?;
            }
            WriteForm::StatementPerTable => {
                if !accounts.is_empty() {
                    UpdateAccounts::from_rows(accounts).execute(conn)?;
                }
                insert_listed!(conn, journal_entries::table, JournalEntryRow<'_>, journal_entries);
                insert_listed!(conn, recognitions::table, NewRecognitionRow, recognitions);
                insert_listed!(conn, transfers::table, TransferRow, transfers);
                insert_listed!(conn, events::table, EventRow<'_>, events);
                insert_listed!(conn, deliveries::table, DeliveryRow, deliveries);
                insert_listed!(conn, idempotency_records::table, IdempotencyRow, records);
            }
        }
        Ok(())
    }
}

/// Inserts the rows of the changes, and writes the accounts and transfers of the book.
pub(crate) fn write_changes(
    conn: &mut Conn,
    changes: &Changes,
    book: &AccountBook,
    form: WriteForm,
) -> QueryResult<()> {
    let bodies: usize = changes.events.iter().map(|event| event.body.len()).sum();
    let (events, large_events) =
        if bodies <= STATEMENT_BYTES { (&*changes.events, &[][..]) } else { (&[][..], &*changes.events) };
    let rows = BatchRows::new(changes, book, events);
    failpoint("postgres.write.batch")?;
    rows.write(conn, form)?;
    failpoint("postgres.write.batch_done")?;
    for slice in split_into_statements(large_events, large_events.len(), |event| event.body.len()) {
        failpoint("postgres.insert.large_events")?;
        let (events, deliveries) = event_rows(slice);
        BatchRows { events, deliveries, ..BatchRows::default() }.write(conn, form)?;
    }
    Ok(())
}
