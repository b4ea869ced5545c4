//! PostgreSQL. Here stands what only it can say, under the names that `repo/` uses; beside it, how a database is opened,
//! and how units of work share it.

use std::fmt::Debug;

use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Integer};
use guerdon_domain::idempotency::IdempotencyKey;
use guerdon_domain::values::{CompanyId, UserId};
use uuid::Uuid;

use crate::rows::schema::users;
use crate::rows::types::{At, Id, Identifier};

mod accounts;
mod catalog;
pub(crate) mod connect;
mod faults;
mod holding;
pub(crate) mod hosts;
mod inserts;
mod limits;
pub(crate) mod open;
pub(crate) mod pooled;
mod races;
pub(crate) mod sessions;
mod settle;
mod transaction;
pub(crate) mod wakeups;
mod writing;

pub(crate) use accounts::load_accounts;
pub(crate) use faults::classify;
pub(crate) use holding::{hold_companies_and_claim_keys, load_records};
pub(crate) use limits::UnitLimits;
pub(crate) use settle::settle;
pub(crate) use writing::write_changes;

#[path = "../repo/mod.rs"]
pub(crate) mod repo;

pub(crate) type Conn = PgConnection;
pub(crate) type Db = diesel::pg::Pg;

/// The id among those of events that was made first; up to version 17 there is no least of ids.
pub(crate) const OLDEST_ID: &str = "min(event_id::text COLLATE \"C\")::uuid";
/// For how many microseconds the oldest transaction has been open that `settled_before()` waits for. The start of another
/// role's transaction is hidden from a role without `pg_read_all_stats`, and is left out.
pub(crate) const FEED_HELD_MICROS: &str = "(SELECT COALESCE(max(extract(epoch FROM \
    clock_timestamp() - COALESCE(a.xact_start, p.prepared)) * 1000000), 0)::bigint FROM unsettled_transactions() AS u \
    LEFT JOIN pg_stat_activity AS a ON a.pid = u.pid \
    LEFT JOIN pg_prepared_xacts AS p ON u.pid IS NULL AND p.transaction = u.transaction_id)";
/// How many bytes the database takes.
pub(crate) const DATABASE_BYTES: &str = "pg_database_size(current_database())";
/// Rows are looked up by a list of their ids, which is one bound value.
pub(crate) const READS_ONE_BY_ONE: bool = false;
/// The most bound values of one statement.
pub(crate) const BINDS: usize = 65_535;
/// How a claim passes over what others claim.
pub(crate) const SKIP_LOCKED: &str = " FOR UPDATE SKIP LOCKED";

/// The class of the advisory locks of companies.
const COMPANY_LOCKS: i32 = 0x67_7565;
/// The class of the advisory locks that are taken before rows.
const ROW_LOCKS: i32 = 0x67_7566;
/// A bound value's place in hand-written SQL.
pub(crate) fn place(number: u8) -> String {
    format!("${number}")
}

/// The transfers `t` by the places of one side, and what to call the places.
pub(crate) fn movements(_side: &str) -> (String, &'static str) {
    ("transfers AS t".to_owned(), "t")
}

/// A moment as a literal of hand-written SQL.
pub(crate) fn moment_text(at: At) -> String {
    format!("TIMESTAMPTZ '{}'", at.0.utc())
}

/// An identifier column as text, for people.
pub(crate) fn id_text(column: &str) -> String {
    format!("{column}::text")
}

/// Whether others may hold a company too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hold {
    Shared,
    Alone,
}

/// Holds a company's place with its provider until the transaction ends: by an advisory lock, which writes to no row.
pub(crate) fn hold_company(conn: &mut Conn, company: CompanyId, hold: Hold) -> QueryResult<()> {
    let key = advisory_key(company.as_uuid());
    let how = if hold == Hold::Shared { "_shared" } else { "" };
    diesel::sql_query(format!("SELECT pg_advisory_xact_lock{how}({COMPANY_LOCKS}, $1)"))
        .bind::<Integer, _>(key)
        .execute(conn)
        .map(drop)
}

/// The key of an id's advisory lock. Two ids that share a key only wait for each other needlessly.
fn advisory_key(id: Uuid) -> i32 {
    let (front, back) = id.as_u64_pair();
    let [a, b, c, d, ..] = (front ^ back ^ (back >> 32)).to_le_bytes();
    i32::from_le_bytes([a, b, c, d])
}

/// The position before which every journal entry is there and has all its transfers: neither a transaction nor a distribution in
/// several steps is under way there.
pub(crate) fn complete_before(conn: &mut Conn) -> QueryResult<i64> {
    let least = "LEAST(settled_before(), \
        (SELECT min(position) FROM causes WHERE id IN (SELECT id FROM distributions_under_way)))";
    diesel::select(diesel::dsl::sql::<BigInt>(least)).get_result(conn)
}

/// From where on the order of the journal may still change: a transaction that stands there may be under way.
fn settled_before(conn: &mut Conn) -> QueryResult<i64> {
    diesel::select(diesel::dsl::sql::<BigInt>("settled_before()")).get_result(conn)
}

/// From where on entries of the audit log may still come in: their positions are transactions, too.
pub(crate) fn settled_rows_before(conn: &mut Conn, _table: &str) -> QueryResult<i64> {
    settled_before(conn)
}

/// From where on events may still come in between those that are there.
pub(crate) fn feed_before(conn: &mut Conn) -> QueryResult<i64> {
    settled_before(conn)
}

/// None has to be kept for the numbers' sake: transactions give them.
pub(crate) fn kept_event(_conn: &mut Conn) -> QueryResult<Option<i64>> {
    Ok(None)
}

/// Locks one row against other writers; readers pass.
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

/// Locks one row against other writers, in the order in which transactions get their journal positions; readers pass.
///
/// A journal position is the transaction's id, which PostgreSQL may assign while the statement still waits for the row.
/// Two waiting transactions could then change the row in the opposite order of their positions. The advisory lock is
/// waited for without a transaction id, and at most one transaction at a time goes on to the row. The transaction must
/// not have written anything before. Each advisory lock takes a place in the server's shared lock table: a transaction
/// that locks many rows uses [`lock_row`].
pub(crate) fn lock_row_in_journal_order<T: AsRef<[u8]> + Debug>(
    conn: &mut Conn,
    table: &'static str,
    id: Id<T>,
) -> QueryResult<()> {
    let key = advisory_key(Uuid::from_slice(id.0.as_ref()).unwrap_or_default());
    // The row is locked in its newest version after the subquery has returned.
    diesel::sql_query(format!(
        "SELECT FROM {table} AS t, (SELECT pg_advisory_xact_lock({ROW_LOCKS}, $2) OFFSET 0) AS turn \
         WHERE t.id = $1 FOR NO KEY UPDATE OF t"
    ))
    .bind::<Identifier, _>(id)
    .bind::<Integer, _>(key)
    .execute(conn)
    .map(drop)
}

/// Locks the row of a user, and that of its company before it.
pub(crate) fn lock_user_and_company(conn: &mut Conn, id: UserId) -> QueryResult<()> {
    let company: Option<Id<CompanyId>> =
        users::table.find(Id(id)).select(users::company_id).get_result(conn).optional()?;
    let Some(company) = company else { return Ok(()) };
    hold_company(conn, company.0, Hold::Shared)?; // before the row, in the same order as a transfer to another provider
    lock_row_in_journal_order(conn, "companies", company)?;
    lock_row(conn, "users", Id(id))
}

/// FNV-1a over scope and key: two keys that meet wait for each other needlessly, no more.
fn digest(key: &IdempotencyKey) -> i64 {
    let bytes = key.scope.as_bytes().iter().chain(key.key.as_bytes());
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    i64::from_ne_bytes(hash.to_ne_bytes())
}

/// Lets the queries of this transaction take their time.
pub(crate) fn lift_time_limit(conn: &mut Conn) -> QueryResult<()> {
    conn.batch_execute("SET LOCAL statement_timeout = 0")
}

/// PostgreSQL checks its files by tools of its own.
pub(crate) fn check_storage(_conn: &mut Conn) -> QueryResult<Vec<String>> {
    Ok(Vec::new())
}
