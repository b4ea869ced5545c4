//! The embedded database: what only SQLite can say, and how it is opened.

use std::fs::{File, TryLockError};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::result::{DatabaseErrorKind, Error};
use diesel::sql_types::{BigInt, Text};
use guerdon_domain::idempotency::IdempotencyKey;
use guerdon_domain::ports::{Payment, Store, StoreError};
use guerdon_domain::values::CompanyId;
use guerdon_domain::wallets::Account;

use crate::checkpoints::Checkpoints;
use crate::group_commit::{Beside, GroupCommit};
use crate::link::pool;
use crate::migrations::check_sqlite;
use crate::open::{CONNECTIONS_OF_A_COMMAND, Opened, WITHIN};
use crate::rows::{AttemptRow, Leg, TransferRow};
use crate::schema::{accounts, attempts, transfers};
use crate::types::{At, Id};
use crate::{Access, OpenError, Watcher};

#[path = "repo/mod.rs"]
pub(crate) mod repo;

pub(crate) use crate::sqlite_storage::check as check_storage;

pub(crate) type Conn = SqliteConnection;
pub(crate) type Db = diesel::sqlite::Sqlite;

/// The most bound values of one statement.
pub(crate) const BINDS: usize = 32_766;
/// How a claim passes over what others claim: one writer has nothing to pass over.
pub(crate) const SKIP_LOCKED: &str = "";
/// What `CAST` calls a small integer.
pub(crate) const SMALL: &str = "INTEGER";

/// Older versions can lose committed writes when two connections checkpoint one WAL file.
const OLDEST_SAFE: (u32, u32, u32) = (3, 51, 3);
/// One writer: a long transaction keeps everybody else who writes waiting.
pub(crate) const BLOCKS_OTHERS: bool = true;
const READERS: u32 = 8;
/// From how many pages of the log on the writer itself makes a checkpoint after a commit: 256 MiB.
const LOG_MAX: u32 = 65_536;
/// For what goes on beside the requests.
const READERS_BESIDE: u32 = 3;
/// How many KiB of pages each reader keeps; a command reads more at once.
const CACHED: u32 = 2_000;
const CACHED_BY_A_COMMAND: u32 = 16_000;

/// Whoever pays more than so many writes much.
const FEW: usize = 100;

/// What a unit of work is held to, over all its tries: its time, and its turn where it writes much.
pub(crate) struct Terms {
    /// After this nothing of the unit commits.
    deadline: Option<Instant>,
    turn: Turn,
}

#[derive(PartialEq, Eq)]
enum Turn {
    NotAsked,
    Missed,
    Held,
}

impl Terms {
    /// For a unit that has so much time, if it is limited at all.
    pub(crate) fn new(within: Option<Duration>) -> Self {
        Self { deadline: within.map(|it| Instant::now() + it), turn: Turn::NotAsked }
    }

    pub(crate) fn go_on(&mut self, _conn: &mut Conn) -> Result<(), StoreError> {
        let is_over = self.deadline.is_some_and(|it| it <= Instant::now());
        if is_over { Err(StoreError::Contended) } else { Ok(()) }
    }

    /// One writer: whoever has it has every account.
    pub(crate) fn enter(&mut self, _accounts: &[Account]) -> Result<(), StoreError> {
        Ok(())
    }

    /// Asks for a turn where much will be written; an error where the unit has none yet.
    pub(crate) fn line_up(&mut self, _payer: Account, receivers: &[Account]) -> Result<(), StoreError> {
        if receivers.len() <= FEW || self.has_turn() {
            return Ok(());
        }
        self.turn = Turn::Missed;
        Err(StoreError::Contended)
    }

    /// Whether the unit gave up because it had no turn.
    pub(crate) fn lacks_turn(&self) -> bool {
        self.turn == Turn::Missed
    }

    pub(crate) fn has_turn(&self) -> bool {
        self.turn == Turn::Held
    }

    pub(crate) fn give_turn(&mut self) {
        self.turn = Turn::Held;
    }
}

/// A bound value's place in hand-written SQL.
pub(crate) fn place(number: u8) -> String {
    format!("?{number}")
}

/// The transfers `t` by the places of one side, and what to call the places. They are read through their index, and an
/// entry that is not what its transfer says is passed over, which leaves a gap in the places.
pub(crate) fn movements(side: &str) -> (String, &'static str) {
    let from = format!(
        "transfers AS entry INDEXED BY transfers_{side} JOIN transfers AS t NOT INDEXED \
         ON t.cause_id = entry.cause_id AND t.leg = entry.leg AND t.{side}_owner = entry.{side}_owner \
         AND t.{side}_kind = entry.{side}_kind AND t.{side}_place = entry.{side}_place"
    );
    (from, "entry")
}

/// A moment in hand-written SQL.
pub(crate) fn moment_text(at: At) -> String {
    at.micros().to_string()
}

/// An identifier column as text, for people.
pub(crate) fn id_text(column: &str) -> String {
    format!("lower(hex({column}))")
}

/// One writer: nothing to lock.
pub(crate) fn lock_accounts(_conn: &mut Conn, _kind: i16, _owners: &[Id]) -> QueryResult<()> {
    Ok(())
}

/// The same.
pub(crate) fn lock_row(_conn: &mut Conn, _table: &'static str, _id: Id) -> QueryResult<()> {
    Ok(())
}

/// What an owner's open accounts of these kinds hold, in their order.
pub(crate) fn hold_accounts(conn: &mut Conn, owner: Id, kinds: &[i16]) -> QueryResult<Vec<(i16, i64)>> {
    accounts::table
        .filter(accounts::owner_id.eq(owner).and(accounts::kind.eq_any(kinds)))
        .filter(accounts::closed_at.is_null())
        .order(accounts::kind)
        .select((accounts::kind, accounts::balance))
        .get_results(conn)
}

/// Whether others may hold a company too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hold {
    Shared,
    Alone,
}

/// One writer: nobody else is at work on any company.
pub(crate) fn hold_company(_conn: &mut Conn, _company: CompanyId, _hold: Hold) -> QueryResult<()> {
    Ok(())
}

/// One writer: everything that is there has its place for good, and is whole but for what is done in several steps.
pub(crate) fn settled_before(conn: &mut Conn) -> QueryResult<i64> {
    let next = "(SELECT COALESCE(\
        (SELECT min(position) FROM causes WHERE id IN (SELECT id FROM distributions_under_way)), \
        (SELECT max(position) + 1 FROM causes), 1))";
    diesel::select(diesel::dsl::sql::<BigInt>(next)).get_result(conn)
}

/// Adds the transfers of a payment.
pub(crate) fn insert_many(conn: &mut Conn, payment: &Payment<'_>, legs: &[Leg]) -> QueryResult<usize> {
    let mut inserted = 0;
    for slice in legs.chunks(BINDS / TransferRow::COLUMNS) {
        let rows: Vec<TransferRow> = slice.iter().map(|it| TransferRow::of(payment, it)).collect();
        inserted += diesel::insert_into(transfers::table).values(&rows).execute(conn)?;
    }
    Ok(inserted)
}

/// Adds attempts; those that are there already stay. Answers which are new. One at a time: a statement for many would
/// have to ignore every fault to pass over those that are there.
pub(crate) fn insert_attempts(conn: &mut Conn, rows: &[AttemptRow<'_>]) -> QueryResult<Vec<Id>> {
    let mut new = Vec::with_capacity(rows.len());
    for row in rows {
        if diesel::insert_into(attempts::table).values(row).on_conflict_do_nothing().execute(conn)? > 0 {
            new.push(row.id);
        }
    }
    Ok(new)
}

/// One writer: whoever runs holds every key.
pub(crate) fn try_claim(_conn: &mut Conn, _key: &IdempotencyKey) -> QueryResult<bool> {
    Ok(true)
}

/// No query has a time limit.
pub(crate) fn take_time(_conn: &mut Conn) -> QueryResult<()> {
    Ok(())
}

/// What a failure means to a caller.
pub(crate) fn classify(error: &Error) -> StoreError {
    let text = error.to_string();
    let busy = ["database is locked", "database table is locked", "database is busy"];
    let away = ["disk I/O error", "database or disk is full", "unable to open database", "readonly database"];
    match error {
        Error::DatabaseError(DatabaseErrorKind::ClosedConnection, _) => StoreError::Unavailable(text),
        _ if busy.iter().any(|it| text.contains(it)) => StoreError::Contended,
        _ if away.iter().any(|it| text.contains(it)) => StoreError::Unavailable(text),
        _ => StoreError::Broken(text),
    }
}

pub(crate) fn connect(path: &Path) -> Result<Conn, OpenError> {
    let name = path.to_str().ok_or_else(|| OpenError::Url("the database's path is not UTF-8".into()))?;
    let failed = |e: &dyn std::fmt::Display| OpenError::failed(&format!("cannot open {name}"), e);
    Conn::establish(name).map_err(|e| failed(&e))
}

/// The writer's settings. `busy_timeout` first, so that the rest waits its turn.
pub(crate) fn prepare_writer(conn: &mut Conn, wait_ms: u32) -> QueryResult<()> {
    conn.batch_execute(&format!(
        "PRAGMA busy_timeout = {wait_ms}; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; \
         PRAGMA foreign_keys = ON; PRAGMA wal_autocheckpoint = {LOG_MAX}; PRAGMA trusted_schema = OFF;"
    ))
}

pub(crate) fn assert_version(conn: &mut Conn) -> Result<(), OpenError> {
    let version: String = diesel::select(diesel::dsl::sql::<Text>("sqlite_version()"))
        .get_result(conn)
        .map_err(|e| OpenError::failed("cannot ask SQLite for its version", &e))?;
    let mut parts = version.split('.').map(|it| it.parse().unwrap_or(0));
    let found = (parts.next().unwrap_or(0), parts.next().unwrap_or(0), parts.next().unwrap_or(0));
    if found < OLDEST_SAFE {
        return Err(OpenError::Failed(format!(
            "SQLite {version} can lose committed writes; 3.51.3 is the oldest safe"
        )));
    }
    Ok(())
}

/// A file beside the database, to be locked.
pub(crate) fn lock_file(path: &Path, purpose: &str) -> Result<File, OpenError> {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(purpose);
    let name = PathBuf::from(name);
    let failed = |e: std::io::Error| OpenError::failed(&format!("cannot open {}", name.display()), &e);
    File::options().create(true).truncate(false).write(true).mode(0o600).open(&name).map_err(failed)
}

/// Takes the lock beside the database, for as long as the answer lives.
pub(crate) fn lock(path: &Path) -> Result<File, OpenError> {
    let file = lock_file(path, "lock")?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(OpenError::Locked(path.display().to_string())),
        Err(TryLockError::Error(e)) => Err(OpenError::failed("cannot lock the database", &e)),
    }
}

/// A read-only connection with pages of so many KiB at hand.
fn connect_reader(name: &str, cached: u32) -> ConnectionResult<Conn> {
    let mut conn = Conn::establish(name)?;
    conn.batch_execute(&format!(
        "PRAGMA busy_timeout = 2000; PRAGMA query_only = ON; PRAGMA trusted_schema = OFF; \
         PRAGMA cache_size = -{cached};"
    ))
    .map_err(ConnectionError::CouldntSetupConfiguration)?;
    Ok(conn)
}

pub(crate) fn open(path: &Path, access: Access, watcher: Watcher) -> Result<Opened, OpenError> {
    if !path.exists() {
        return Err(OpenError::Missing(path.display().to_string()));
    }
    let lock = lock(path)?;
    let mut writer = connect(path)?;
    prepare_writer(&mut writer, 5_000).map_err(|e| OpenError::failed("cannot prepare the database", &e))?;
    assert_version(&mut writer)?;
    check_sqlite(&mut writer)?;
    let name = path.to_string_lossy().into_owned();
    let readers = |most| {
        let (name, cached) =
            (name.clone(), if access == Access::Command { CACHED_BY_A_COMMAND } else { CACHED });
        pool(most, move || connect_reader(&name, cached))
            .map_err(|e| OpenError::failed("cannot open the database for reading", &e))
    };
    if access == Access::Command {
        let store: Arc<dyn Store> =
            Arc::new(GroupCommit::new(writer, readers(CONNECTIONS_OF_A_COMMAND)?, lock, watcher));
        return Ok(Opened { requests: Arc::clone(&store), background: store });
    }
    let mut beside = connect(path)?;
    prepare_writer(&mut beside, 0).map_err(|e| OpenError::failed("cannot prepare the database", &e))?;
    let checkpoints =
        Checkpoints::begin(beside).map_err(|e| OpenError::failed("cannot start a thread", &e))?;
    let store = GroupCommit::new(writer, readers(READERS)?, lock, watcher);
    let store = Arc::new(store.for_requests(WITHIN, checkpoints));
    let background = Beside { store: Arc::clone(&store), readers: readers(READERS_BESIDE)? };
    Ok(Opened { requests: store, background: Arc::new(background) })
}
