//! Writes the results of decisions, and claims idempotency keys, which needs no lock with a single writer.

use diesel::prelude::*;
use guerdon_domain::idempotency::IdempotencyKey;
use guerdon_domain::ledger::{AccountBook, Changes};
use guerdon_domain::values::CompanyId;

use super::Conn;
use super::accounts::write_book;
use super::insert_row::InsertRow;
use crate::engine::Locking;
use crate::failpoint::failpoint;
use crate::rows::schema::idempotency_records;
use crate::rows::{DeliveryRow, EventRow, Id, IdempotencyRow, JournalEntryRow, NewRecognitionRow};
use crate::write_form::WriteForm;

/// Returns all companies and all keys: with a single writer, no other transaction changes a company's
/// provider or holds a key.
pub(crate) fn lock_companies_and_claim_keys(
    _conn: &mut Conn,
    companies: &[CompanyId],
    keys: &[IdempotencyKey],
    _locking: Locking,
) -> QueryResult<(Vec<CompanyId>, Vec<IdempotencyKey>)> {
    Ok((companies.to_vec(), keys.to_vec()))
}

/// The records of keys, including expired ones.
pub(crate) fn load_records(conn: &mut Conn, keys: &[IdempotencyKey]) -> QueryResult<Vec<IdempotencyRow>> {
    let mut rows = Vec::new();
    for key in keys {
        let record = idempotency_records::table.find((Id(key.scope), &key.key));
        rows.extend(record.select(IdempotencyRow::as_select()).get_result(conn).optional()?);
    }
    Ok(rows)
}

/// Inserts rows one by one: the statement for one row stays prepared. The failpoint is passed before each
/// row.
macro_rules! insert {
    ($conn:expr, $failpoint:expr, $rows:expr) => {
        for row in $rows {
            $failpoint?;
            InsertRow(&row).execute($conn)?;
        }
    };
}

/// Inserts the rows of the changes, and writes the accounts and transfers of the book.
pub(crate) fn write_changes(
    conn: &mut Conn,
    changes: &Changes,
    book: &AccountBook,
    _form: WriteForm,
) -> QueryResult<()> {
    let rows = changes.journal_entries.iter().map(JournalEntryRow::from_entry);
    insert!(conn, failpoint("sqlite.insert.journal_entries"), rows);
    let rows = changes.recognitions.iter().map(|(entry_id, leg, recognition)| {
        NewRecognitionRow::from_recognition(*entry_id, *leg, recognition)
    });
    insert!(conn, failpoint("sqlite.insert.recognitions"), rows);
    let rows = changes.events.iter().map(EventRow::from_event);
    insert!(conn, failpoint("sqlite.insert.events"), rows);
    let rows = changes.events.iter().map(DeliveryRow::for_new_event);
    insert!(conn, failpoint("sqlite.insert.deliveries"), rows);
    write_book(conn, book)?;
    let rows = changes.idempotency_records.iter().map(IdempotencyRow::from_record);
    insert!(conn, failpoint("sqlite.insert.idempotency_records"), rows);
    Ok(())
}
