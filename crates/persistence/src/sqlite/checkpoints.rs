//! Moves committed pages from the write-ahead log into the database file on a separate thread, because the
//! writer would block all others while it does so.
//!
//! The log restarts only when the file has all its pages, and under load the writer adds new ones before that
//! is so. Once the log is long and the file has nearly all pages, the writer moves the last pages itself,
//! between two batches.

use std::mem::replace;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use diesel::prelude::*;
use diesel::sql_types::Integer;

/// The interval between two checkpoints.
const CHECKPOINT_INTERVAL: Duration = Duration::from_secs(1);
/// The maximum number of passes of one checkpoint. Each leaves fewer pages.
const PASSES: u32 = 8;
pub(super) const CHECKPOINT: &str = "PRAGMA wal_checkpoint(PASSIVE)";

/// When the writer has to move the last pages.
#[derive(Clone, Copy)]
pub(super) struct Limits {
    /// The minimum number of pages in the log.
    pub(super) log: i32,
    /// The maximum number of pages that may be left after the passes.
    pub(super) left: i32,
    /// If this few pages are left, further passes are skipped.
    pub(super) few: i32,
}

pub(super) const LIMITS: Limits = Limits { log: super::connect::LOG_MAX, left: 4_096, few: 128 };

/// Whether the writer has to move the last pages.
#[derive(Clone, Default)]
pub(super) struct Due(Arc<AtomicBool>);

impl Due {
    /// Clears the request. Returns whether there was one.
    pub(super) fn take(&self) -> bool {
        self.0.load(Ordering::Relaxed) && self.0.swap(false, Ordering::Relaxed)
    }
}

/// A thread that makes checkpoints. It ends when this is dropped.
pub(crate) struct Checkpoints {
    due: Due,
    stop: Option<SyncSender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Checkpoints {
    /// Starts the thread, with its own connection.
    pub(crate) fn begin(mut conn: SqliteConnection) -> std::io::Result<Self> {
        let (stop, stopped) = sync_channel(0);
        let due = Due::default();
        let wanted = due.clone();
        let work = move || {
            while stopped.recv_timeout(CHECKPOINT_INTERVAL) == Err(RecvTimeoutError::Timeout) {
                // The next checkpoint compensates for one that fails.
                match look(&mut conn, LIMITS) {
                    Ok(is_due) => wanted.0.store(is_due, Ordering::Relaxed),
                    Err(cause) => log::debug!("no checkpoint was made: {cause}"),
                }
            }
        };
        let thread = Builder::new().name("checkpoints".to_owned()).spawn(work)?;
        Ok(Self { due, stop: Some(stop), thread: Some(thread) })
    }

    pub(super) fn due(&self) -> Due {
        self.due.clone()
    }
}

#[derive(QueryableByName)]
struct Pages {
    #[diesel(sql_type = Integer)]
    log: i32,
    #[diesel(sql_type = Integer)]
    checkpointed: i32,
}

/// Moves the pages that can be moved. Returns whether the writer has to move the rest. Pages that a reader's
/// snapshot still needs stay in the log.
fn look(conn: &mut SqliteConnection, limits: Limits) -> QueryResult<bool> {
    let mut left = i32::MAX;
    for _ in 0..PASSES {
        let Pages { log, checkpointed } = diesel::sql_query(CHECKPOINT).get_result(conn)?;
        if log < limits.log {
            return Ok(false);
        }
        let before = replace(&mut left, log - checkpointed);
        if left <= limits.few || left >= before {
            break;
        }
    }
    Ok(left <= limits.left)
}

impl Drop for Checkpoints {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap_or_default(); // a panic of the thread has no further consequence here
        }
    }
}

#[cfg(test)]
mod tests {
    use diesel::connection::SimpleConnection as _;

    use super::*;

    const FEW: Limits = Limits { log: 100, left: 10, few: 1 };

    fn write(conn: &mut SqliteConnection, pages: usize) {
        for _ in 0..pages {
            conn.batch_execute("INSERT INTO t VALUES (zeroblob(3900))").unwrap();
        }
    }

    fn length(conn: &mut SqliteConnection) -> i32 {
        diesel::sql_query(CHECKPOINT).get_result::<Pages>(conn).unwrap().log
    }

    #[test]
    fn a_long_log_begins_anew_once_nobody_reads_what_was_before() {
        let folder = tempfile::tempdir().unwrap();
        let name = folder.path().join("test.db").to_str().unwrap().to_owned();
        let [mut writer, mut beside, mut reader] = [(); 3].map(|()| {
            let mut conn = SqliteConnection::establish(&name).unwrap();
            conn.batch_execute(
                "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; PRAGMA synchronous = OFF",
            )
            .unwrap();
            conn
        });
        writer.batch_execute("CREATE TABLE t (x BLOB)").unwrap();
        write(&mut writer, 10);
        assert!(!look(&mut beside, FEW).unwrap(), "it is short");
        reader.batch_execute("BEGIN; SELECT count(*) FROM t").unwrap();
        write(&mut writer, 100);
        assert!(!look(&mut beside, FEW).unwrap(), "somebody reads what was before");
        reader.batch_execute("COMMIT").unwrap();
        assert!(look(&mut beside, FEW).unwrap());
        write(&mut writer, 1); // the writer has written more
        writer.batch_execute(CHECKPOINT).unwrap();
        write(&mut writer, 1);
        assert!(length(&mut beside) < 10);
    }
}
