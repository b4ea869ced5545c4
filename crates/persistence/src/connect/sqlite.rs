//! Connections to the embedded database, and the lock files next to it.

use std::fs::{File, TryLockError};
use std::io::ErrorKind;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::sql_types::Text;

use crate::access::OpenError;

/// The minimum version of SQLite. Older versions can lose committed writes when two connections checkpoint
/// one WAL file.
const VERSION_MIN: (u32, u32, u32) = (3, 51, 3);
/// The page size of new databases. A commit writes each page that it changed. Most changes of a recognition
/// are single index entries on different pages, so smaller pages mean fewer written bytes. With 1,024 bytes
/// many event bodies would overflow.
const PAGE_BYTES: i64 = 2_048;
/// The number of pages after which the log should restart: 256 MiB. If a long read has delayed the restart,
/// the log is truncated to this size when it restarts.
pub(crate) const WAL_RESTART_PAGES: i32 = 131_072;
/// The writer's page cache in KiB. The pages that a recognition changes are far apart.
const WRITER_CACHE_KIB: u32 = 32_000;

/// Fails if no file exists at the path. A file that may not be examined is not reported as absent.
pub(crate) fn require_file(path: &Path) -> Result<(), OpenError> {
    match path.try_exists() {
        Ok(true) => Ok(()),
        Ok(false) => Err(OpenError::no_file(path)),
        Err(e) => {
            Err(OpenError::failed_because(&format!("cannot read the metadata of {}", path.display()), &e))
        }
    }
}

pub(crate) fn connect_to_file(path: &Path) -> Result<SqliteConnection, OpenError> {
    let name = path.to_str().ok_or_else(|| OpenError::Url("the database's path is not UTF-8".into()))?;
    let failed = |e: &dyn std::fmt::Display| OpenError::failed_because(&format!("cannot open {name}"), e);
    SqliteConnection::establish(name).map_err(|e| failed(&e))
}

/// Syncs the write-ahead log and its folder. A process that was killed may have left commits in the log that were not
/// synced. Without this, a retry of such a request would get its stored response although a power failure could still
/// lose both.
///
/// Call this before the first connection is opened, because a connection may read the log.
pub(crate) fn sync_log(database: &Path) -> Result<(), OpenError> {
    let log = find_log(database);
    let folder = log.as_deref().map(|log| log.parent().unwrap_or(Path::new("/")).to_owned());
    for path in log.into_iter().chain(folder) {
        match File::open(&path).and_then(|file| file.sync_all()) {
            Err(e) if e.kind() != ErrorKind::NotFound => {
                return Err(OpenError::failed_because(&format!("cannot sync {}", path.display()), &e));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Returns the path of the log. SQLite creates it next to the target of a symbolic link.
fn find_log(database: &Path) -> Option<PathBuf> {
    let mut name = database.canonicalize().ok()?.into_os_string();
    name.push("-wal");
    Some(PathBuf::from(name))
}

/// The writer's settings. `busy_timeout` comes first, so that the others wait for locks.
pub(crate) fn prepare_writer(conn: &mut SqliteConnection, wait_ms: u32) -> QueryResult<()> {
    conn.batch_execute(&format!(
        "PRAGMA busy_timeout = {wait_ms}; PRAGMA page_size = {PAGE_BYTES}; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; \
         PRAGMA foreign_keys = ON; PRAGMA wal_autocheckpoint = {WAL_RESTART_PAGES}; PRAGMA trusted_schema = OFF; \
         PRAGMA cache_size = -{WRITER_CACHE_KIB}; PRAGMA journal_size_limit = {};",
        i64::from(WAL_RESTART_PAGES) * PAGE_BYTES
    ))
}

pub(crate) fn require_version(conn: &mut SqliteConnection) -> Result<(), OpenError> {
    let version: String = diesel::select(diesel::dsl::sql::<Text>("sqlite_version()"))
        .get_result(conn)
        .map_err(|e| OpenError::failed_because("cannot read SQLite's version", &e))?;
    let mut parts = version.split('.').map(|part| part.parse().unwrap_or(0));
    let found = (parts.next().unwrap_or(0), parts.next().unwrap_or(0), parts.next().unwrap_or(0));
    if found < VERSION_MIN {
        return Err(OpenError::Failed(format!(
            "SQLite {version} can lose committed writes; use 3.51.3 or later"
        )));
    }
    Ok(())
}

/// Opens a lock file next to the database.
pub(crate) fn open_lock_file(path: &Path, purpose: &str) -> Result<File, OpenError> {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(purpose);
    let name = PathBuf::from(name);
    let failed =
        |e: std::io::Error| OpenError::failed_because(&format!("cannot open {}", name.display()), &e);
    // Do not create the target of a dangling symbolic link.
    let created = File::options().create_new(true).write(true).mode(0o600).open(&name);
    let opened = created.or_else(|e| match e.kind() {
        ErrorKind::AlreadyExists => File::options().write(true).open(&name),
        _ => Err(e),
    });
    opened.map_err(failed)
}

/// Takes the lock file next to the database. The lock is held as long as the returned file is open.
pub(crate) fn lock_database(path: &Path) -> Result<File, OpenError> {
    let file = open_lock_file(path, "lock")?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(OpenError::Locked(path.display().to_string())),
        Err(TryLockError::Error(e)) => Err(OpenError::failed_because("cannot lock the database", &e)),
    }
}

/// A read-only connection with a page cache of this many KiB.
pub(crate) fn connect_reader(name: &str, cache_kib: u32) -> ConnectionResult<SqliteConnection> {
    let mut conn = SqliteConnection::establish(name)?;
    conn.batch_execute(&format!(
        "PRAGMA busy_timeout = 2000; PRAGMA query_only = ON; PRAGMA trusted_schema = OFF; \
         PRAGMA cache_size = -{cache_kib};"
    ))
    .map_err(ConnectionError::CouldntSetupConfiguration)?;
    Ok(conn)
}

#[cfg(test)]
mod tests {
    use diesel::dsl::sql;
    use diesel::sql_types::{Integer, Text};

    use super::*;

    #[test]
    fn the_log_is_next_to_the_target_of_a_symbolic_link() {
        let folder = tempfile::tempdir().unwrap();
        let (target, link) = (folder.path().join("guerdon.db"), folder.path().join("link.db"));
        std::os::unix::fs::symlink(&target, &link).unwrap();
        let mut conn = connect_to_file(&link).unwrap();
        prepare_writer(&mut conn, 0).unwrap();
        conn.batch_execute("CREATE TABLE t (x)").unwrap();
        let log = find_log(&link).unwrap();
        assert!(log.metadata().unwrap().len() > 0 && log.file_name().unwrap() == "guerdon.db-wal");
        assert!(sync_log(&link).is_ok() && sync_log(&folder.path().join("absent.db")).is_ok());
    }

    #[test]
    fn a_commit_waits_for_the_disk() {
        const FULL: i32 = 2;
        let folder = tempfile::tempdir().unwrap();
        let mut conn = connect_to_file(&folder.path().join("guerdon.db")).unwrap();
        conn.batch_execute("PRAGMA synchronous = OFF").unwrap();
        prepare_writer(&mut conn, 0).unwrap();
        let synchronous: i32 = sql::<Integer>("PRAGMA synchronous").get_result(&mut conn).unwrap();
        let journal_mode: String = sql::<Text>("PRAGMA journal_mode").get_result(&mut conn).unwrap();
        assert_eq!((synchronous, journal_mode.as_str()), (FULL, "wal"));
    }
}
