//! Moving what was committed from the embedded database's log into its file, beside the writer: it would keep everybody
//! waiting meanwhile.

use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use diesel::connection::SimpleConnection as _;
use diesel::prelude::*;

/// How long after one the next begins.
const PAUSE: Duration = Duration::from_secs(1);

/// A thread that checkpoints; it ends when this is dropped.
pub(crate) struct Checkpoints {
    stop: Option<SyncSender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Checkpoints {
    /// Begins, on a connection of its own.
    pub(crate) fn begin(mut conn: SqliteConnection) -> std::io::Result<Self> {
        let (stop, stopped) = sync_channel(0);
        let work = move || {
            while stopped.recv_timeout(PAUSE) == Err(RecvTimeoutError::Timeout) {
                // One that fails is made up for by the next, or by the writer where the log has become long.
                if let Err(cause) = conn.batch_execute("PRAGMA wal_checkpoint(PASSIVE)") {
                    log::debug!("no checkpoint was made: {cause}");
                }
            }
        };
        let thread = Builder::new().name("checkpoints".to_owned()).spawn(work)?;
        Ok(Self { stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for Checkpoints {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap_or_default(); // a panic of it would have nothing to say here
        }
    }
}
