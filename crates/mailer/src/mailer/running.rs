//! The loop around the mailer: its thread, its waiting, its end.

use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use guerdon_domain::ports::Timestamp;

use super::{Mailer, Next, SCAN};

#[derive(Default)]
struct State {
    stopped: bool,
    woken: bool,
}

/// What the mailer's thread listens to while it waits.
#[derive(Default)]
pub(super) struct Signal {
    state: Mutex<State>,
    changed: Condvar,
}

impl Signal {
    pub(super) fn is_stopped(&self) -> bool {
        self.state().stopped
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.state());
        self.changed.notify_all();
    }

    fn wait(&self, at_most: Duration) {
        let idle = |state: &mut State| !state.stopped && !state.woken;
        let waited = self.changed.wait_timeout_while(self.state(), at_most, idle);
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        state.woken = false;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Tells a running mailer that mail was queued.
#[derive(Clone)]
pub struct Waker(Arc<Signal>);

impl Waker {
    /// Has the mailer look at once. It does not shorten the wait for a server that is away.
    pub fn wake(&self) {
        self.0.change(|state| state.woken = true);
    }
}

/// A mailer on its own thread. Dropped, it stops without being waited for.
pub struct Running {
    signal: Arc<Signal>,
    ended: Receiver<()>,
    thread: Option<JoinHandle<()>>,
}

impl Running {
    pub(super) fn start(mailer: Mailer, signal: Arc<Signal>) -> io::Result<Self> {
        let (at_end, ended) = channel();
        let body = move || run(mailer, at_end);
        let thread = Builder::new().name("mailer".into()).spawn(body)?;
        Ok(Self { signal, ended, thread: Some(thread) })
    }

    /// Has the mailer look for mail at once.
    pub fn wake(&self) {
        self.waker().wake();
    }

    /// A handle for waking it, for whoever queues mail.
    pub fn waker(&self) -> Waker {
        Waker(Arc::clone(&self.signal))
    }

    /// Stops after the mail that is being sent and waits for that, for `deadline` at most: `false` where it was
    /// still being sent then. The rest of its batch is released.
    pub fn stop(mut self, deadline: Duration) -> bool {
        self.signal.change(|state| state.stopped = true);
        if self.ended.recv_timeout(deadline) == Err(RecvTimeoutError::Timeout) {
            return false;
        }
        self.thread.take().is_none_or(|it| it.join().is_ok())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.signal.change(|state| state.stopped = true);
    }
}

fn run(mut mailer: Mailer, at_end: Sender<()>) {
    let signal = Arc::clone(&mailer.signal);
    while !signal.is_stopped() {
        if let Next::At(due) = mailer.step() {
            signal.wait(until(due, mailer.clock.now()));
        }
    }
    mailer.close();
    drop(at_end);
}

/// How long to wait; a clock that was set meanwhile does no harm for longer than a scan.
fn until(due: Timestamp, now: Timestamp) -> Duration {
    Duration::try_from(due - now).unwrap_or_default().min(SCAN)
}
