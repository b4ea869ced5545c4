//! A running dispatcher, and how it stops.

use std::io;
use std::sync::{Arc, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::shared::SharedDispatcher;
use super::{Dispatcher, claimer, settler};

/// A running dispatcher. Dropping it without [`stop`](Self::stop) stops it as if the deadline had passed.
pub struct RunningDispatcher {
    shared: Arc<SharedDispatcher>,
    claimer: Option<JoinHandle<()>>,
    settler: Option<JoinHandle<()>>,
}

/// The result of stopping a dispatcher.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StopResult {
    /// The number of attempts that were still in progress or whose settlement could not be written. Their events are
    /// sent again when the leases end.
    pub abandoned: usize,
}

impl std::fmt::Debug for RunningDispatcher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RunningDispatcher").finish_non_exhaustive()
    }
}

impl RunningDispatcher {
    pub(super) fn start(parts: Dispatcher) -> io::Result<Self> {
        let shared = Arc::new(SharedDispatcher::new(parts));
        let mut running = Self { shared, claimer: None, settler: None };
        // If the second thread cannot start, dropping `running` stops the first.
        running.settler =
            Some(spawn_thread("webhook-settler", &running.shared, settler::settle_until_stopped)?);
        running.claimer =
            Some(spawn_thread("webhook-claimer", &running.shared, claimer::claim_until_stopped)?);
        Ok(running)
    }

    /// Returns the number of attempts in progress or not yet settled.
    pub fn in_flight(&self) -> usize {
        self.shared.lock_state().core.in_flight()
    }

    /// Stops: claims no more events, begins no attempt, releases waiting events, and waits at most `deadline` for
    /// attempts in progress and their settlements.
    #[must_use = "the result says whether attempts were abandoned"]
    pub fn stop(mut self, deadline: Duration) -> StopResult {
        self.signal_stop();
        let waited = self
            .shared
            .progress
            .wait_timeout_while(self.shared.lock_state(), deadline, |state| !state.is_finished());
        let (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        let (is_over, abandoned) = (state.is_finished(), state.core.in_flight());
        drop(state);
        self.abandon_work();
        // If the deadline has passed, a thread may be blocked in the store and is not joined.
        for thread in [self.claimer.take(), self.settler.take()].into_iter().flatten().filter(|_| is_over) {
            if thread.join().is_err() {
                log::error!("a thread of the dispatcher panicked");
            }
        }
        StopResult { abandoned }
    }

    fn signal_stop(&self) {
        let now = self.shared.now();
        let mut state = self.shared.lock_state();
        state.is_stopping = true;
        state.core.begin_stop(now);
        drop(state);
        self.shared.parts.wake.notify_one();
        self.shared.work.notify_all();
        self.shared.settlements.notify_all();
    }

    fn abandon_work(&self) {
        self.shared.lock_state().is_abandoned = true;
        self.shared.settlements.notify_all();
        self.shared.progress.notify_all();
    }
}

impl Drop for RunningDispatcher {
    fn drop(&mut self) {
        self.signal_stop();
        self.abandon_work();
    }
}

fn spawn_thread(
    name: &str,
    shared: &Arc<SharedDispatcher>,
    work: impl FnOnce(&Arc<SharedDispatcher>) + Send + 'static,
) -> io::Result<JoinHandle<()>> {
    let shared = Arc::clone(shared);
    thread::Builder::new().name(name.to_owned()).spawn(move || work(&shared))
}
