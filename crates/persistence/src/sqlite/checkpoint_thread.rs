//! Moves committed pages from the write-ahead log into the database file on a separate thread. If the writer
//! moved them, all other units of work would have to wait.
//!
//! The log restarts only when all of its pages are in the file, and under load the writer adds new pages
//! before that happens. Once the log is long and nearly all pages are in the file, the writer moves the last
//! pages itself, between two groups of units.

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
const PASSES_MAX: u32 = 8;
pub(super) const CHECKPOINT: &str = "PRAGMA wal_checkpoint(PASSIVE)";

/// When the writer has to move the last pages.
#[derive(Clone, Copy)]
pub(super) struct CheckpointLimits {
    /// The minimum number of pages in the log.
    pub(super) wal_pages_min: i32,
    /// The maximum number of pages that may be left after the passes.
    pub(super) pages_left_max: i32,
    /// If at most this many pages are left, further passes are skipped.
    pub(super) enough_pages_left: i32,
}

pub(super) const LIMITS: CheckpointLimits = CheckpointLimits {
    wal_pages_min: crate::connect::sqlite::WAL_RESTART_PAGES,
    pages_left_max: 4_096,
    enough_pages_left: 128,
};

/// A flag with which the checkpoint thread asks the writer to move the last pages.
#[derive(Clone, Default)]
pub(super) struct CheckpointRequest(Arc<AtomicBool>);

impl CheckpointRequest {
    /// Clears the request. Returns whether there was one.
    pub(super) fn take_request(&self) -> bool {
        self.0.load(Ordering::Relaxed) && self.0.swap(false, Ordering::Relaxed)
    }
}

/// The thread that makes checkpoints. Dropping this value ends the thread.
pub(crate) struct CheckpointThread {
    request_for_writer: CheckpointRequest,
    stop_sender: Option<SyncSender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl CheckpointThread {
    /// Starts the thread, with its own connection.
    pub(crate) fn start_thread(mut conn: SqliteConnection) -> std::io::Result<Self> {
        let (stop_sender, stopped) = sync_channel(0);
        let request_for_writer = CheckpointRequest::default();
        let request = request_for_writer.clone();
        let work = move || {
            while stopped.recv_timeout(CHECKPOINT_INTERVAL) == Err(RecvTimeoutError::Timeout) {
                // A checkpoint that fails is repeated by the next one.
                match run_checkpoint(&mut conn, LIMITS) {
                    Ok(is_due) => request.0.store(is_due, Ordering::Relaxed),
                    Err(cause) => log::debug!(cause:%; "checkpoint failed"),
                }
            }
        };
        let thread = Builder::new().name("checkpoints".to_owned()).spawn(work)?;
        Ok(Self { request_for_writer, stop_sender: Some(stop_sender), thread: Some(thread) })
    }

    pub(super) fn request_flag(&self) -> CheckpointRequest {
        self.request_for_writer.clone()
    }
}

/// Runs a checkpoint. Returns the number of pages in the log, and how many of them are in the file.
fn checkpoint_log(conn: &mut SqliteConnection) -> QueryResult<(i32, i32)> {
    let result = diesel::dsl::sql::<(Integer, Integer, Integer)>(CHECKPOINT);
    let (_is_blocked, log, checkpointed): (i32, i32, i32) = result.get_result(conn)?;
    Ok((log, checkpointed))
}

/// Moves the pages that can be moved. Returns whether the writer has to move the rest. Pages that a reader's
/// snapshot still needs stay in the log.
fn run_checkpoint(conn: &mut SqliteConnection, limits: CheckpointLimits) -> QueryResult<bool> {
    let mut pages_left = i32::MAX;
    for _ in 0..PASSES_MAX {
        let (log, checkpointed) = checkpoint_log(conn)?;
        if log < limits.wal_pages_min {
            return Ok(false);
        }
        let before = replace(&mut pages_left, log - checkpointed);
        if pages_left <= limits.enough_pages_left || pages_left >= before {
            break;
        }
    }
    Ok(pages_left <= limits.pages_left_max)
}

impl Drop for CheckpointThread {
    fn drop(&mut self) {
        drop(self.stop_sender.take());
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap_or_default(); // a panic of the thread has no further consequence here
        }
    }
}

#[cfg(test)]
mod tests {
    use diesel::connection::SimpleConnection as _;

    use super::*;

    const TEST_LIMITS: CheckpointLimits =
        CheckpointLimits { wal_pages_min: 100, pages_left_max: 10, enough_pages_left: 1 };

    fn write_pages(conn: &mut SqliteConnection, pages: usize) {
        for _ in 0..pages {
            conn.batch_execute("INSERT INTO t VALUES (zeroblob(3900))").unwrap();
        }
    }

    #[test]
    fn a_long_log_restarts_after_old_readers_finish() {
        let folder = tempfile::tempdir().unwrap();
        let name = folder.path().join("test.db").to_str().unwrap().to_owned();
        let [mut writer, mut checkpointer, mut reader] = [(); 3].map(|()| {
            let mut conn = SqliteConnection::establish(&name).unwrap();
            conn.batch_execute(
                "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; PRAGMA synchronous = OFF",
            )
            .unwrap();
            conn
        });
        writer.batch_execute("CREATE TABLE t (x BLOB)").unwrap();
        write_pages(&mut writer, 10);
        assert!(!run_checkpoint(&mut checkpointer, TEST_LIMITS).unwrap(), "the log is short");
        reader.batch_execute("BEGIN; SELECT count(*) FROM t").unwrap();
        write_pages(&mut writer, 100);
        assert!(!run_checkpoint(&mut checkpointer, TEST_LIMITS).unwrap(), "a reader uses the old pages");
        reader.batch_execute("COMMIT").unwrap();
        assert!(run_checkpoint(&mut checkpointer, TEST_LIMITS).unwrap());
        write_pages(&mut writer, 1); // the writer has written more
        writer.batch_execute(CHECKPOINT).unwrap();
        write_pages(&mut writer, 1);
        let (log, _) = checkpoint_log(&mut checkpointer).unwrap();
        assert!(log < 10);
    }
}
