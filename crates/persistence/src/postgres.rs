//! PostgreSQL: what only it can say, and how it is opened.

use std::sync::Arc;
use std::time::Duration;

use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::result::{DatabaseErrorKind, Error};
use diesel::sql_types::{BigInt, Bool, Integer, Text};
use guerdon_domain::idempotency::IdempotencyKey;
use guerdon_domain::ports::{Store, StoreError};
use guerdon_domain::values::CompanyId;

use crate::link::pool;
use crate::migrations::check_postgres;
use crate::open::{CONNECTIONS_OF_A_COMMAND, Opened};
use crate::pooled::{Limits, Pooled};
use crate::rows::AttemptRow;
use crate::schema::{accounts, attempts};
use crate::types::{At, Id, Identifier};
use crate::{Access, OpenError, Watcher};

#[path = "repo/mod.rs"]
pub(crate) mod repo;

pub(crate) use crate::many_transfers::insert_many;
pub(crate) use crate::terms::Terms;

pub(crate) type Conn = PgConnection;
pub(crate) type Db = diesel::pg::Pg;

/// The most bound values of one statement.
pub(crate) const BINDS: usize = 65_535;
/// How a claim passes over what others claim.
pub(crate) const SKIP_LOCKED: &str = " FOR UPDATE SKIP LOCKED";
/// What `CAST` calls a small integer.
pub(crate) const SMALL: &str = "smallint";

/// A long transaction keeps only those waiting who want the rows that it holds.
pub(crate) const BLOCKS_OTHERS: bool = false;
/// The class of the advisory locks of companies.
const COMPANY_LOCKS: i32 = 0x67_7565;
/// How long a statement may take, unless its transaction takes its time.
pub(crate) const STATEMENT_LIMIT: Duration = Duration::from_secs(5);

/// A bound value's place in hand-written SQL.
pub(crate) fn place(number: u8) -> String {
    format!("${number}")
}

/// The transfers `t` by the places of one side, and what to call the places.
pub(crate) fn movements(_side: &str) -> (String, &'static str) {
    ("transfers AS t".to_owned(), "t")
}

/// A moment in hand-written SQL.
pub(crate) fn moment_text(at: At) -> String {
    format!("(TIMESTAMPTZ 'epoch' + {} * INTERVAL '1 microsecond')", at.micros())
}

/// An identifier column as text, for people.
pub(crate) fn id_text(column: &str) -> String {
    format!("{column}::text")
}

/// Locks accounts in the order of their owners, so that payments to many never wait in a circle.
pub(crate) fn lock_accounts(conn: &mut Conn, kind: i16, owners: &[Id]) -> QueryResult<()> {
    accounts::table
        .filter(accounts::kind.eq(kind).and(accounts::owner_id.eq_any(owners)))
        .order(accounts::owner_id)
        .select(accounts::owner_id)
        .for_no_key_update()
        .get_results::<Id>(conn)
        .map(drop)
}

/// Locks an owner's open accounts of these kinds, in their order; answers what each holds.
pub(crate) fn hold_accounts(conn: &mut Conn, owner: Id, kinds: &[i16]) -> QueryResult<Vec<(i16, i64)>> {
    accounts::table
        .filter(accounts::owner_id.eq(owner).and(accounts::kind.eq_any(kinds)))
        .filter(accounts::closed_at.is_null())
        .order(accounts::kind)
        .select((accounts::kind, accounts::balance))
        .for_no_key_update()
        .get_results(conn)
}

/// Whether others may hold a company too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hold {
    Shared,
    Alone,
}

/// Holds a company's place with its provider until the transaction ends: by an advisory lock, which writes to no row.
pub(crate) fn hold_company(conn: &mut Conn, company: CompanyId, hold: Hold) -> QueryResult<()> {
    let (front, back) = company.as_uuid().as_u64_pair();
    let [a, b, c, d, ..] = (front ^ back ^ (back >> 32)).to_le_bytes();
    let key = i32::from_le_bytes([a, b, c, d]); // companies that share a key wait for each other needlessly, no more
    let how = if hold == Hold::Shared { "_shared" } else { "" };
    diesel::sql_query(format!("SELECT pg_advisory_xact_lock{how}({COMPANY_LOCKS}, $1)"))
        .bind::<Integer, _>(key)
        .execute(conn)
        .map(drop)
}

/// From where on the order of the journal may still change: a transaction that stands there may be under way.
pub(crate) fn settled_before(conn: &mut Conn) -> QueryResult<i64> {
    diesel::select(diesel::dsl::sql::<BigInt>("settled_before()")).get_result(conn)
}

/// Adds attempts; those that are there already stay. Answers which are new.
pub(crate) fn insert_attempts(conn: &mut Conn, rows: &[AttemptRow<'_>]) -> QueryResult<Vec<Id>> {
    match rows {
        [one] => diesel::insert_into(attempts::table)
            .values(one)
            .on_conflict_do_nothing()
            .returning(attempts::id)
            .get_results(conn),
        many => diesel::insert_into(attempts::table)
            .values(many)
            .on_conflict_do_nothing()
            .returning(attempts::id)
            .get_results(conn),
    }
}

/// Locks one row against other writers; readers pass.
pub(crate) fn lock_row(conn: &mut Conn, table: &'static str, id: Id) -> QueryResult<()> {
    diesel::sql_query(format!("SELECT FROM {table} WHERE id = $1 FOR NO KEY UPDATE"))
        .bind::<Identifier, _>(id)
        .execute(conn)
        .map(drop)
}

/// Claims a key by an advisory lock that ends with the transaction.
pub(crate) fn try_claim(conn: &mut Conn, key: &IdempotencyKey) -> QueryResult<bool> {
    let claim =
        diesel::dsl::sql::<Bool>("pg_try_advisory_xact_lock(").bind::<BigInt, _>(digest(key)).sql(")");
    diesel::select(claim).get_result(conn)
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
pub(crate) fn take_time(conn: &mut Conn) -> QueryResult<()> {
    conn.batch_execute("SET LOCAL statement_timeout = 0")
}

/// PostgreSQL checks its files by tools of its own.
pub(crate) fn check_storage(_conn: &mut Conn) -> QueryResult<Vec<String>> {
    Ok(Vec::new())
}

/// What a failure means to a caller. diesel has no kind for a deadlock, a time-out or a shutdown: their messages
/// are the server's own English ones, which `lc_messages` is set to.
pub(crate) fn classify(error: &Error) -> StoreError {
    let text = error.to_string();
    let races = ["deadlock detected", "could not serialize", "lock timeout"];
    let away = [
        "statement timeout", // nobody was faster: a second run would take as long
        "server closed",
        "terminating connection",
        "connection",
        "shutting down",
        "starting up",
        "SSL SYSCALL",
    ];
    match error {
        Error::DatabaseError(DatabaseErrorKind::SerializationFailure, _) => StoreError::Contended,
        // The rules looked before they wrote: somebody was faster, and a second look sees it.
        Error::DatabaseError(DatabaseErrorKind::UniqueViolation, _) => StoreError::Contended,
        Error::DatabaseError(DatabaseErrorKind::ClosedConnection, _) => StoreError::Unavailable(text),
        _ if races.iter().any(|it| text.contains(it)) => StoreError::Contended,
        _ if away.iter().any(|it| text.contains(it)) => StoreError::Unavailable(text),
        _ => StoreError::Broken(text),
    }
}

/// How many seconds a connection may take: a request waits for it, a command can be patient.
pub(crate) fn patience(access: Access) -> u32 {
    if access == Access::Command { 10 } else { 2 }
}

/// Connects within so many seconds, and gives a silent server up after ten, so that an absent one is told soon.
pub(crate) fn connect(url: &str, seconds: u32) -> diesel::ConnectionResult<Conn> {
    let joint = if url.contains('?') { '&' } else { '?' };
    let limits =
        format!("connect_timeout={seconds}&tcp_user_timeout=10000&keepalives_idle=10&keepalives_interval=5");
    let own = url.contains("connect_timeout=");
    let mut conn = Conn::establish(&if own { url.to_owned() } else { format!("{url}{joint}{limits}") })?;
    conn.batch_execute(&format!(
        "SET client_min_messages = warning; SET TIME ZONE 'UTC'; \
         SET synchronous_commit = on; SET statement_timeout = '{}s'; SET lock_timeout = '2s'; \
         SET idle_in_transaction_session_timeout = '60s'",
        STATEMENT_LIMIT.as_secs()
    ))
    .map_err(diesel::ConnectionError::CouldntSetupConfiguration)?;
    // Only a superuser may; where the server speaks English anyway nothing is lost.
    conn.batch_execute(
        "DO $$ BEGIN PERFORM set_config('lc_messages', 'C', false); \
         EXCEPTION WHEN insufficient_privilege THEN NULL; END $$",
    )
    .map_err(diesel::ConnectionError::CouldntSetupConfiguration)?;
    Ok(conn)
}

/// Refuses a server whose messages would not be understood: they tell a lost race from a fault.
pub(crate) fn require_english(conn: &mut Conn) -> Result<(), OpenError> {
    let language: String = diesel::select(diesel::dsl::sql::<Text>("current_setting('lc_messages')"))
        .get_result(conn)
        .map_err(|e| OpenError::failed("cannot ask PostgreSQL for its language", &e))?;
    let is_english = ["C", "POSIX", "en"].iter().any(|it| language.starts_with(it));
    if language.is_empty() || is_english {
        return Ok(());
    }
    Err(OpenError::Failed(format!(
        "PostgreSQL's messages must be in English, not {language}: let its superuser say \
         ALTER DATABASE … SET lc_messages = 'C'"
    )))
}

/// Refuses a server that would lose commits when its machine stops: no setting of a connection can make up for these.
fn require_durable(conn: &mut Conn) -> Result<(), OpenError> {
    for setting in ["fsync", "full_page_writes"] {
        let value: String =
            diesel::select(diesel::dsl::sql::<Text>(&format!("current_setting('{setting}')")))
                .get_result(conn)
                .map_err(|e| OpenError::failed("cannot ask PostgreSQL for its settings", &e))?;
        if value != "on" {
            return Err(OpenError::Failed(format!(
                "PostgreSQL would lose points in a crash, since its {setting} is {value}: let its superuser say \
                 ALTER SYSTEM SET {setting} = on; SELECT pg_reload_conf()"
            )));
        }
    }
    Ok(())
}

/// Why no connection was made. What libpq says of a URL it cannot read may quote a password, so it is not passed on.
pub(crate) fn unreachable(cause: &ConnectionError) -> OpenError {
    if let ConnectionError::CouldntSetupConfiguration(cause) = cause {
        return OpenError::failed("PostgreSQL refuses a setting", cause);
    }
    let text = cause.to_string();
    if text.starts_with("connection to server") {
        return OpenError::failed("cannot connect to PostgreSQL", &text);
    }
    OpenError::Failed("cannot connect to PostgreSQL: is database.url a valid URI, and its host known?".into())
}

pub(crate) fn open(url: &str, access: Access, watcher: Watcher) -> Result<Opened, OpenError> {
    open_within(url, access, &Limits::default(), watcher)
}

/// The same with other limits for the service.
pub(crate) fn open_within(
    url: &str,
    access: Access,
    limits: &Limits,
    watcher: Watcher,
) -> Result<Opened, OpenError> {
    let mut conn = connect(url, patience(access)).map_err(|e| unreachable(&e))?;
    require_english(&mut conn)?;
    if access == Access::Serve {
        require_durable(&mut conn)?;
    }
    check_postgres(&mut conn)?;
    drop(conn);
    let connections = |most| {
        let url = url.to_owned();
        pool(most, move || connect(&url, patience(access)))
            .map_err(|e| OpenError::failed("cannot connect to PostgreSQL", &e))
    };
    if access == Access::Command {
        let store: Arc<dyn Store> =
            Arc::new(Pooled::for_others(connections(CONNECTIONS_OF_A_COMMAND)?, watcher));
        return Ok(Opened { requests: Arc::clone(&store), background: store });
    }
    let (writes, reads) = (connections(limits.writes)?, connections(limits.reads)?);
    let background = Pooled::for_others(connections(limits.background)?, watcher.clone());
    let requests = Pooled::for_requests(writes, reads, limits.within, watcher);
    Ok(Opened { requests: Arc::new(requests), background: Arc::new(background) })
}
