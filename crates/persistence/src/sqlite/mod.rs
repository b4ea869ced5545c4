//! The SQLite store: opening the embedded database and running units of work on its single writer. This
//! module also defines the parts that differ from PostgreSQL, under the names that `repo/` uses.

use std::fmt::Debug;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use diesel::prelude::*;
use diesel::sql_types::{BigInt, Bool, Nullable, SmallInt};
use guerdon_domain::ports::{Settlement, Timestamp};
use guerdon_domain::values::{CompanyId, EventId, UserId};
use uuid::Uuid;

use crate::engine::LockMode;
use crate::failpoint::failpoint;
use crate::rows::schema::{attempts, events};
use crate::rows::{AttemptRow, DbTimestamp, Id, Identifier, SettlementRow, SqlTimestamp};
use crate::statement::statement;
use crate::write_form::WriteForm;

mod accounts;
pub(crate) mod backup_copy;
mod batch_write;
mod checkpoint_thread;
mod error_classes;
mod group_commit;
mod insert_row;
mod integrity_check;
mod limits;
pub(crate) mod open;
mod read_unit;
mod schema_check;
mod writer;

pub(crate) use accounts::load_accounts;
pub(crate) use batch_write::{load_records, lock_companies_and_claim_keys, write_changes};
pub(crate) use error_classes::classify_error;
pub(crate) use integrity_check::{run_storage_check, storage_checks};
pub(crate) use limits::UnitLimits;

#[path = "../repo/mod.rs"]
pub(crate) mod repo;

pub(crate) type Conn = SqliteConnection;
pub(crate) type Db = diesel::sqlite::Sqlite;
/// How rows are read one at a time, without the other rows of the result in memory.
pub(crate) type RowByRow = diesel::connection::DefaultLoadingMode;

fn lock_mutex<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner) // every panic of a unit is caught while the lock is held
}

/// The SQL expression for the oldest of several event ids.
pub(crate) const OLDEST_EVENT_ID: &str = "min(event_id)";
/// The SQL expression for the size of the database in bytes.
pub(crate) const DATABASE_BYTES: &str =
    "(SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size())";
/// Whether rows are looked up one by one. On SQLite they are, because the statement for one row stays
/// prepared.
pub(crate) const LOOKS_UP_ROWS_ONE_BY_ONE: bool = true;
/// Makes a query read a table in the order in which its rows are stored, which is the order of their
/// positions.
pub(crate) const BY_POSITION_HINT: &str = " NOT INDEXED";
/// The prefix of a column that keeps SQLite from sorting by an index, and from selecting rows by it.
pub(crate) const WITHOUT_INDEX: &str = "+";
/// Whether the index `events_feed` contains the whole order of a provider's events. Here a position
/// identifies an event, so the index has no id.
pub(crate) const HAS_FEED_INDEX: bool = false;
/// The maximum number of bound values of one statement.
pub(crate) const BOUND_VALUES_MAX: usize = 32_766;
/// Returns nothing: with a single writer, no other transaction is claiming rows.
pub(crate) fn lock_and_skip_locked(_table: &str) -> &'static str {
    ""
}

/// The placeholder of a bound value in hand-written SQL.
pub(crate) fn placeholder(number: u16) -> String {
    format!("?{number}")
}

/// Returns the FROM item that reads one side (debit or credit) of the transfers `t`, and the alias of the
/// table whose columns have the account and the entry number. The transfers are read through the index of the
/// side. An index entry that does not match its transfer is skipped, which leaves a gap in the numbers.
pub(crate) fn account_entries_from(side: &str) -> (String, &'static str) {
    let from = format!(
        "transfers AS entry INDEXED BY transfers_{side} JOIN transfers AS t NOT INDEXED \
         ON t.journal_entry_id = entry.journal_entry_id AND t.leg = entry.leg AND t.{side}_owner = entry.{side}_owner \
         AND t.{side}_kind = entry.{side}_kind AND t.{side}_sequence = entry.{side}_sequence"
    );
    (from, "entry")
}

/// A time in hand-written SQL.
pub(crate) fn timestamp_literal(at: DbTimestamp) -> String {
    at.0.unix_micros().to_string()
}

/// An id as SQL.
pub(crate) fn id_literal(id: Uuid) -> String {
    format!("x'{}'", id.simple())
}

/// An id column as readable text.
pub(crate) fn id_as_text(column: &str) -> String {
    let part = |from: u8, length: u8| format!("substr(hex({column}), {from}, {length})");
    let parts = [part(1, 8), part(9, 4), part(13, 4), part(17, 4), part(21, 12)];
    format!("lower({})", parts.join(" || '-' || "))
}

/// Returns `None`: rows are numbered as they are inserted.
pub(crate) fn transaction_position(_conn: &mut Conn) -> QueryResult<Option<i64>> {
    Ok(None)
}

/// Does nothing: positions are not transaction ids.
pub(crate) fn skip_transaction_id(_conn: &mut Conn) -> QueryResult<()> {
    Ok(())
}

/// Does nothing: with a single writer there is nothing to lock.
pub(crate) fn lock_events(_conn: &mut Conn, _ids: &[Id<EventId>]) -> QueryResult<()> {
    Ok(())
}

/// Does nothing: with a single writer there is nothing to lock.
pub(crate) fn lock_row<T: AsRef<[u8]> + Debug>(
    _conn: &mut Conn,
    _table: &'static str,
    _id: Id<T>,
) -> QueryResult<()> {
    Ok(())
}

pub(crate) use self::lock_row as lock_row_in_journal_order;

/// Does nothing: with a single writer there is nothing to lock.
pub(crate) fn lock_user_and_company(_conn: &mut Conn, _id: UserId) -> QueryResult<()> {
    Ok(())
}

/// Does nothing: with a single writer no other transaction works on the company.
pub(crate) fn lock_company_provider(
    _conn: &mut Conn,
    _company: CompanyId,
    _mode: LockMode,
) -> QueryResult<()> {
    Ok(())
}

/// The position before which the journal is complete: no distribution in steps with an earlier position is
/// still in progress.
pub(crate) fn journal_complete_before(conn: &mut Conn) -> QueryResult<i64> {
    let next = "(SELECT COALESCE(\
        (SELECT min(position) FROM journal_entries WHERE id IN (SELECT id FROM unfinished_distributions)), \
        (SELECT max(position) + 1 FROM journal_entries), 1))";
    diesel::select(diesel::dsl::sql::<BigInt>(next)).get_result(conn)
}

/// The position after the last audit entry.
pub(crate) fn audit_log_complete_before(conn: &mut Conn) -> QueryResult<i64> {
    let next = "(SELECT COALESCE(max(position), 0) + 1 FROM audit_entries)";
    diesel::select(diesel::dsl::sql::<BigInt>(next)).get_result(conn)
}

/// The position from which events may still be inserted between existing ones. The single writer numbers
/// events as it commits them, so no such position exists.
pub(crate) fn feed_complete_before(_conn: &mut Conn) -> QueryResult<i64> {
    Ok(i64::MAX)
}

/// Returns 0: no transaction delays the feed.
pub(crate) fn feed_delay_micros(_conn: &mut Conn) -> QueryResult<i64> {
    Ok(0)
}

/// The last event. It must never be deleted, because the next position is computed from it.
pub(crate) fn last_event_position_to_keep(conn: &mut Conn) -> QueryResult<Option<i64>> {
    events::table.select(diesel::dsl::max(events::position)).get_result(conn)
}

/// Does nothing: the tables have no partitions.
pub(crate) fn create_event_partitions(
    _conn: &mut Conn,
    _now: Timestamp,
    _retention: Option<Duration>,
) -> QueryResult<usize> {
    Ok(0)
}

/// Returns false: the tables have no partitions.
pub(crate) fn drop_expired_event_partition(_conn: &mut Conn, _end: EventId) -> QueryResult<bool> {
    Ok(false)
}

/// Returns `end`: all expired events are deleted row by row.
pub(crate) fn end_of_row_deletion(_conn: &mut Conn, end: EventId) -> QueryResult<EventId> {
    Ok(end)
}

/// Does nothing: a snapshot has all rows until it ends.
pub(crate) fn keep_event_partitions(_conn: &mut Conn) -> QueryResult<()> {
    Ok(())
}

statement! {
    /// Updates an event that is still under this lease.
    SettleDelivery -> Bool {
        state: SmallInt = i16,
        new_attempts: SmallInt = i16,
        due: Nullable<SqlTimestamp> = Option<DbTimestamp>,
        event: Identifier = Id<EventId>,
        lease: Identifier = Id,
    }
    "UPDATE deliveries SET state = ?, attempts = attempts + ?, next_attempt_at = ?, lease_id = NULL \
     WHERE event_id = ? AND lease_id = ?"
}

/// Writes the results of deliveries. An attempt that is already recorded is not counted again, and its event
/// is released. The results are written one by one: a statement for many results would have to ignore every
/// error to skip attempts that are already recorded.
pub(crate) fn write_settlements(
    conn: &mut Conn,
    settlements: &[Settlement],
    _form: WriteForm,
) -> QueryResult<()> {
    for settlement in settlements {
        failpoint("sqlite.settle.attempt")?;
        let settled = SettlementRow::from_settlement(settlement);
        let attempt_row =
            settlement.attempt.as_ref().map(|attempt| AttemptRow::from_attempt(settlement.event, attempt));
        let is_new = attempt_row.as_ref().map(|attempt_row| -> QueryResult<bool> {
            let insert = diesel::insert_into(attempts::table).values(attempt_row).on_conflict_do_nothing();
            Ok(insert.execute(conn)? > 0)
        });
        let is_new = is_new.transpose()?;
        let (state, due) = match is_new {
            Some(false) => (settled.state_if_recorded, settled.due_if_recorded),
            Some(true) | None => (settled.state, settled.due),
        };
        let new_attempts = i16::from(is_new == Some(true));
        failpoint("sqlite.settle.delivery")?;
        SettleDelivery { state, new_attempts, due, event: settled.event_id, lease: settled.lease_id }
            .execute(conn)?;
    }
    Ok(())
}

/// Does nothing: SQLite has no other kind of join.
pub(crate) fn look_up_rows_by_index(_conn: &mut Conn) -> QueryResult<()> {
    Ok(())
}

/// Does nothing: SQLite has no time limit for a statement.
pub(crate) fn set_statement_timeout(_conn: &mut Conn, _timeout: Option<Duration>) -> QueryResult<()> {
    Ok(())
}
