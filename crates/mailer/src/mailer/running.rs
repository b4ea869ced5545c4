//! Runs the mailer on a thread until it is stopped.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use guerdon_domain::ports::{Notifier, Timestamp};

use super::{Mailer, NextBatch, SCAN_INTERVAL};

/// A mailer on its own thread. Dropping it stops the mailer without waiting for it.
pub struct RunningMailer {
    stopped: Arc<AtomicBool>,
    wake: Notifier,
    ended: Receiver<()>,
    thread: Option<JoinHandle<()>>,
}

impl RunningMailer {
    pub(super) fn start(mailer: Mailer) -> io::Result<Self> {
        let (ended_sender, ended) = channel();
        let (stopped, wake) = (Arc::clone(&mailer.stopped), mailer.wake.clone());
        let work = move || run_until_stopped(mailer, ended_sender);
        let thread = Builder::new().name("mailer".into()).spawn(work)?;
        Ok(Self { stopped, wake, ended, thread: Some(thread) })
    }

    /// Stops the mailer after the email that is being sent, and releases the rest of the batch. Returns whether it
    /// stopped within `deadline`.
    pub fn stop(mut self, deadline: Duration) -> bool {
        self.signal_stop();
        if self.ended.recv_timeout(deadline) == Err(RecvTimeoutError::Timeout) {
            return false;
        }
        self.thread.take().is_none_or(|thread| thread.join().is_ok())
    }

    fn signal_stop(&self) {
        self.stopped.store(true, Ordering::Release);
        self.wake.notify_one();
    }
}

impl Drop for RunningMailer {
    fn drop(&mut self) {
        self.signal_stop();
    }
}

fn run_until_stopped(mut mailer: Mailer, ended_sender: Sender<()>) {
    while !mailer.is_stopped() {
        if let NextBatch::At(due) = process_batch(&mut mailer) {
            mailer.wake.wait_timeout(time_until(due, mailer.clock.now()));
        }
    }
    mailer.close_mailer();
    drop(ended_sender);
}

/// Processes a batch. A panic, which would end the thread, is logged, and the next batch follows after a pause.
fn process_batch(mailer: &mut Mailer) -> NextBatch {
    catch_unwind(AssertUnwindSafe(|| mailer.process_batch())).unwrap_or_else(|_panic| {
        log::error!(
            "the mailer panicked and continues after a pause; the emails that it had claimed become due when their lease \
             ends"
        );
        mailer.transport.close_connection();
        NextBatch::At(mailer.clock.now() + SCAN_INTERVAL)
    })
}

/// The time to wait for `due`. The wait is limited, so that a clock change cannot prolong it.
fn time_until(due: Timestamp, now: Timestamp) -> Duration {
    Duration::try_from(due - now).unwrap_or_default().min(SCAN_INTERVAL)
}
