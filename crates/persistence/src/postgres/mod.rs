//! The PostgreSQL store: opening the database and running units of work. This module also defines the parts that
//! differ from SQLite, under the names that `repo/` uses.

use std::fmt::Debug;
use std::time::Duration;

use diesel::connection::SimpleConnection;
use diesel::pg::sql_types::Array;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Integer, Nullable};
use guerdon_domain::idempotency::IdempotencyKey;
use guerdon_domain::values::{CompanyId, EventId, UserId};
use uuid::Uuid;

use crate::engine::LockMode;
pub(crate) use crate::event_partitions::{
    create_event_partitions, drop_expired_event_partition, end_of_row_deletion, keep_event_partitions,
};
use crate::rows::schema::users;
use crate::rows::{DbTimestamp, Id, Identifier};

mod accounts;
mod batch_write;
pub(crate) mod cross_process_notifier;
mod error_classes;
mod insert_rows;
mod limits;
mod locking;
pub(crate) mod open;
pub(crate) mod pooled_store;
mod schema_check;
mod settlements;
mod transaction;

pub(crate) use accounts::load_accounts;
pub(crate) use batch_write::write_changes;
pub(crate) use error_classes::classify_error;
pub(crate) use limits::UnitLimits;
pub(crate) use locking::{load_records, lock_companies_and_claim_keys};
pub(crate) use settlements::write_settlements;

#[path = "../repo/mod.rs"]
pub(crate) mod repo;

pub(crate) type Conn = PgConnection;
pub(crate) type Db = diesel::pg::Pg;
/// How rows are read one at a time, without the other rows of the result in memory.
pub(crate) type RowByRow = diesel::pg::PgRowByRowLoadingMode;

/// The SQL expression for the oldest of several event ids. PostgreSQL has `min(uuid)` only since version 18.
pub(crate) const OLDEST_EVENT_ID: &str = "min(event_id::text COLLATE \"C\")::uuid";
/// The SQL expression for the size of the database in bytes.
pub(crate) const DATABASE_BYTES: &str = "pg_database_size(current_database())";
/// Whether rows are looked up one by one. On PostgreSQL, one statement looks up a list of ids, which is a single
/// bound value.
pub(crate) const LOOKS_UP_ROWS_ONE_BY_ONE: bool = false;
/// PostgreSQL needs no hint: its planner uses statistics to choose the order in which it reads a table.
pub(crate) const BY_POSITION_HINT: &str = "";
/// The prefix of a column that keeps SQLite from sorting by an index. PostgreSQL's planner uses statistics to choose
/// the index.
pub(crate) const WITHOUT_INDEX: &str = "";
/// Whether the index `events_feed` contains the whole order of a provider's events: position and id.
pub(crate) const HAS_FEED_INDEX: bool = true;
/// The maximum number of bound values of one statement.
pub(crate) const BOUND_VALUES_MAX: usize = 65_535;
/// The clause of a claim that locks the rows of a table, and skips those that other transactions are claiming.
pub(crate) fn lock_and_skip_locked(table: &str) -> String {
    format!(" FOR NO KEY UPDATE OF {table} SKIP LOCKED")
}

/// Writes a record with the id of the transaction to the write-ahead log.
pub(crate) const LOG_EMPTY_MESSAGE: &str = "SELECT pg_logical_emit_message(true, 'guerdon', '')";

/// The class of the advisory locks on companies.
const COMPANY_LOCKS: i32 = 0x67_7565;
/// The class of the advisory locks that are taken before rows.
const ROW_LOCKS: i32 = 0x67_7566;
/// The placeholder of a bound value in hand-written SQL.
pub(crate) fn placeholder(number: u16) -> String {
    format!("${number}")
}

/// Returns the FROM item that reads one side (debit or credit) of the transfers `t`, and the alias of the table
/// whose columns have the account and the entry number.
pub(crate) fn account_entries_from(_side: &str) -> (String, &'static str) {
    ("transfers AS t".to_owned(), "t")
}

/// A time as a literal in hand-written SQL.
pub(crate) fn timestamp_literal(at: DbTimestamp) -> String {
    format!("TIMESTAMPTZ '{}'", at.0.to_utc())
}

/// An id as SQL.
pub(crate) fn id_literal(id: Uuid) -> String {
    format!("UUID '{id}'")
}

/// An id column as readable text.
pub(crate) fn id_as_text(column: &str) -> String {
    format!("{column}::text")
}

/// Takes the lock on a company's provider until the transaction ends. It is an advisory lock, which writes no
/// row.
pub(crate) fn lock_company_provider(conn: &mut Conn, company: CompanyId, mode: LockMode) -> QueryResult<()> {
    let key = advisory_lock_key(company.as_uuid());
    let function_suffix = if mode == LockMode::Shared { "_shared" } else { "" };
    diesel::sql_query(format!("SELECT pg_advisory_xact_lock{function_suffix}({COMPANY_LOCKS}, $1)"))
        .bind::<Integer, _>(key)
        .execute(conn)
        .map(drop)
}

/// The key of an id's advisory lock. If two ids share a key, the only effect is an unnecessary wait.
fn advisory_lock_key(id: Uuid) -> i32 {
    let (front, back) = id.as_u64_pair();
    let [a, b, c, d, ..] = (front ^ back ^ (back >> 32)).to_le_bytes();
    i32::from_le_bytes([a, b, c, d])
}

/// The position before which the journal is complete: no transaction and no distribution in steps with an earlier
/// position is still in progress.
pub(crate) fn journal_complete_before(conn: &mut Conn) -> QueryResult<i64> {
    // Two statements, in this order: Citus would evaluate the function on another node if the statement also read a
    // table.
    let complete = complete_before(conn)?;
    let first_unfinished = diesel::dsl::sql::<Nullable<BigInt>>(
        "(SELECT min(position) FROM journal_entries WHERE id IN (SELECT id FROM unfinished_distributions))",
    );
    let first_unfinished: Option<i64> = diesel::select(first_unfinished).get_result(conn)?;
    Ok(first_unfinished.map_or(complete, |first| first.min(complete)))
}

/// The position from which the order of the journal may still change, because transactions with this or a later
/// position may be in progress.
pub(crate) fn complete_before(conn: &mut Conn) -> QueryResult<i64> {
    diesel::select(diesel::dsl::sql::<BigInt>("complete_before()")).get_result(conn)
}

// The positions of audit entries and of events are transaction ids, too.
pub(crate) use self::complete_before as audit_log_complete_before;
pub(crate) use self::complete_before as feed_complete_before;

/// How many microseconds the oldest transaction that `complete_before()` waits for has been open. A role without
/// `pg_read_all_stats` cannot see when transactions of other roles started; such transactions are ignored.
pub(crate) fn feed_delay_micros(conn: &mut Conn) -> QueryResult<i64> {
    let oldest = "(SELECT COALESCE(max(extract(epoch FROM \
        clock_timestamp() - COALESCE(a.xact_start, p.prepared)) * 1000000), 0)::bigint FROM writing_transactions() AS u \
        LEFT JOIN pg_stat_activity AS a ON a.pid = u.pid \
        LEFT JOIN pg_prepared_xacts AS p ON u.pid IS NULL AND p.transaction = u.transaction_id)";
    diesel::select(diesel::dsl::sql::<BigInt>(oldest)).get_result(conn)
}

/// Returns `None`: the numbering does not depend on the last event, because positions come from transaction
/// ids.
pub(crate) fn last_event_position_to_keep(_conn: &mut Conn) -> QueryResult<Option<i64>> {
    Ok(None)
}

/// The position of the rows that this transaction writes.
pub(crate) fn transaction_position(conn: &mut Conn) -> QueryResult<Option<i64>> {
    diesel::select(diesel::dsl::sql::<BigInt>("journal_position()")).get_result(conn).map(Some)
}

/// Consumes a transaction id by logging an empty message in a subtransaction, so that the next position is in the
/// past when this transaction has ended.
pub(crate) fn skip_transaction_id(conn: &mut Conn) -> QueryResult<()> {
    conn.batch_execute("SAVEPOINT next_position")?;
    conn.batch_execute(LOG_EMPTY_MESSAGE)?;
    conn.batch_execute("RELEASE SAVEPOINT next_position")
}

/// Locks events against other writers, in the order of their ids, so that two transactions cannot deadlock.
pub(crate) fn lock_events(conn: &mut Conn, ids: &[Id<EventId>]) -> QueryResult<()> {
    diesel::sql_query("SELECT FROM events WHERE id = ANY($1) ORDER BY id FOR NO KEY UPDATE")
        .bind::<Array<Identifier>, _>(ids)
        .execute(conn)
        .map(drop)
}

/// Locks one row against other writers. Readers are not blocked.
pub(crate) fn lock_row<T: AsRef<[u8]> + Debug>(
    conn: &mut Conn,
    table: &'static str,
    id: Id<T>,
) -> QueryResult<()> {
    diesel::sql_query(format!("SELECT FROM {table} WHERE id = $1 FOR NO KEY UPDATE"))
        .bind::<Identifier, _>(id)
        .execute(conn)
        .map(drop)
}

/// Locks one row against other writers, in the order in which transactions get their journal positions.
/// Readers are not blocked.
///
/// A journal position is the transaction's id, which PostgreSQL may assign while the statement still waits
/// for the row. Two waiting transactions could then change the row in the opposite order of their positions.
/// An advisory lock can be awaited without a transaction id, and only one transaction at a time continues to
/// the row. The transaction must not have written anything before. Each advisory lock takes an entry in the
/// server's shared lock table, so a transaction that locks many rows uses [`lock_row`].
pub(crate) fn lock_row_in_journal_order<T: AsRef<[u8]> + Debug>(
    conn: &mut Conn,
    table: &'static str,
    id: Id<T>,
) -> QueryResult<()> {
    let key = advisory_lock_key(Uuid::from_slice(id.0.as_ref()).unwrap_or_default());
    // The newest version of the row is locked after the subquery has returned.
    diesel::sql_query(format!(
        "SELECT FROM {table} AS t, (SELECT pg_advisory_xact_lock({ROW_LOCKS}, $2) OFFSET 0) AS turn \
         WHERE t.id = $1 FOR NO KEY UPDATE OF t"
    ))
    .bind::<Identifier, _>(id)
    .bind::<Integer, _>(key)
    .execute(conn)
    .map(drop)
}

/// Locks the row of a user, after that of its company.
pub(crate) fn lock_user_and_company(conn: &mut Conn, id: UserId) -> QueryResult<()> {
    let company: Option<Id<CompanyId>> =
        users::table.find(Id(id)).select(users::company_id).get_result(conn).optional()?;
    let Some(company) = company else { return Ok(()) };
    // Locked before the row, in the same order as by a transfer to another provider.
    lock_company_provider(conn, company.0, LockMode::Shared)?;
    lock_row_in_journal_order(conn, "companies", company)?;
    lock_row(conn, "users", Id(id))
}

/// FNV-1a over scope and key. If two keys collide, one counts as in use while the other is claimed: its request is
/// retried, and fails with 503 after the time limit.
fn hash_key(key: &IdempotencyKey) -> i64 {
    let bytes = key.scope.as_bytes().iter().chain(key.key.as_bytes());
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    i64::from_ne_bytes(hash.to_ne_bytes())
}

/// Makes the rest of the transaction look up each joined row through an index. The server does not know how many new
/// rows a range has before it analyzes the table again, and might read all of the table instead.
pub(crate) fn look_up_rows_by_index(conn: &mut Conn) -> QueryResult<()> {
    conn.batch_execute(
        "SET LOCAL enable_seqscan = off; SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off; \
         SET LOCAL enable_material = off; SET LOCAL jit = off",
    )
}

/// Sets or disables the statement timeout for the rest of the transaction.
pub(crate) fn set_statement_timeout(conn: &mut Conn, timeout: Option<Duration>) -> QueryResult<()> {
    let milliseconds = timeout.map_or(0, |timeout| timeout.as_millis().max(1));
    conn.batch_execute(&format!("SET LOCAL statement_timeout = {milliseconds}"))
}

/// PostgreSQL has its own tools to check its files.
pub(crate) enum StorageCheck {}

pub(crate) fn storage_checks(_conn: &mut Conn) -> QueryResult<Vec<StorageCheck>> {
    Ok(Vec::new())
}

pub(crate) fn run_storage_check(_conn: &mut Conn, check: &StorageCheck) -> QueryResult<Vec<String>> {
    match *check {}
}
