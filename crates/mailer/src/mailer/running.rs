//! Runs the mailer on a thread until it is stopped.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use guerdon_domain::ports::{Timestamp, Wake};

use super::{Mailer, NextStep, SCAN_INTERVAL};

/// A mailer on its own thread. Dropping it stops the mailer without waiting for it.
pub struct Running {
    stopped: Arc<AtomicBool>,
    wake: Wake,
    ended: Receiver<()>,
    thread: Option<JoinHandle<()>>,
}

impl Running {
    pub(super) fn start(mailer: Mailer) -> io::Result<Self> {
        let (at_end, ended) = channel();
        let (stopped, wake) = (Arc::clone(&mailer.stopped), mailer.wake.clone());
        let body = move || run(mailer, at_end);
        let thread = Builder::new().name("mailer".into()).spawn(body)?;
        Ok(Self { stopped, wake, ended, thread: Some(thread) })
    }

    /// Stops the mailer after the mail that is being sent, and releases the rest of the batch. Returns whether it stopped
    /// within `deadline`.
    pub fn stop(mut self, deadline: Duration) -> bool {
        self.begin_to_stop();
        if self.ended.recv_timeout(deadline) == Err(RecvTimeoutError::Timeout) {
            return false;
        }
        self.thread.take().is_none_or(|thread| thread.join().is_ok())
    }

    fn begin_to_stop(&self) {
        self.stopped.store(true, Ordering::Release);
        self.wake.wake();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.begin_to_stop();
    }
}

fn run(mut mailer: Mailer, at_end: Sender<()>) {
    while !mailer.is_stopped() {
        if let NextStep::At(due) = mailer.step() {
            mailer.wake.wait(until(due, mailer.clock.now()));
        }
    }
    mailer.close();
    drop(at_end);
}

/// The time to wait for `due`. It is limited, so that a change of the clock has no effect for longer.
fn until(due: Timestamp, now: Timestamp) -> Duration {
    Duration::try_from(due - now).unwrap_or_default().min(SCAN_INTERVAL)
}
