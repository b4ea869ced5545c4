//! A running dispatcher, and how it stops.

use std::io;
use std::sync::{Arc, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::shared::Shared;
use super::{Dispatcher, claimer, settler};

/// A running dispatcher. If it is dropped without [`stop`](Self::stop), it stops as if the deadline had passed.
pub struct Running {
    shared: Arc<Shared>,
    claimer: Option<JoinHandle<()>>,
    settler: Option<JoinHandle<()>>,
}

/// The result of stopping a dispatcher.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stopped {
    /// Attempts that were still in progress, or whose settlement could not be written. Their events are sent again
    /// when the leases end.
    pub abandoned: usize,
}

impl std::fmt::Debug for Running {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Running").finish_non_exhaustive()
    }
}

impl Running {
    pub(super) fn start(parts: Dispatcher) -> io::Result<Self> {
        let shared = Arc::new(Shared::new(parts));
        let mut running = Self { shared, claimer: None, settler: None };
        // If the second thread cannot start, dropping `running` stops the first.
        running.settler = Some(spawn("webhook-settler", &running.shared, settler::settle_until_stopped)?);
        running.claimer = Some(spawn("webhook-claimer", &running.shared, claimer::claim_until_stopped)?);
        Ok(running)
    }

    /// Returns the number of attempts in progress or not yet settled.
    pub fn in_flight(&self) -> usize {
        self.shared.state().core.in_flight()
    }

    /// Stops: claims no more events, begins no attempt, releases waiting events, and waits at most `deadline` for
    /// attempts in progress and their settlements.
    #[must_use = "tells whether anything was left"]
    pub fn stop(mut self, deadline: Duration) -> Stopped {
        self.begin_to_stop();
        let waited =
            self.shared.progress.wait_timeout_while(self.shared.state(), deadline, |state| !state.is_over());
        let (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        let (is_over, abandoned) = (state.is_over(), state.core.in_flight());
        drop(state);
        self.abandon();
        // A thread that is blocked in the journal is not joined.
        for thread in [self.claimer.take(), self.settler.take()].into_iter().flatten().filter(|_| is_over) {
            if thread.join().is_err() {
                log::error!("a thread of the dispatcher panicked");
            }
        }
        Stopped { abandoned }
    }

    fn begin_to_stop(&self) {
        let now = self.shared.now();
        let mut state = self.shared.state();
        state.is_stopping = true;
        state.core.stop(now);
        drop(state);
        self.shared.parts.wake.wake();
        self.shared.work.notify_all();
        self.shared.settlements.notify_all();
    }

    fn abandon(&self) {
        self.shared.state().is_abandoned = true;
        self.shared.settlements.notify_all();
        self.shared.progress.notify_all();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.begin_to_stop();
        self.abandon();
    }
}

fn spawn(
    name: &str,
    shared: &Arc<Shared>,
    work: impl FnOnce(&Arc<Shared>) + Send + 'static,
) -> io::Result<JoinHandle<()>> {
    let shared = Arc::clone(shared);
    thread::Builder::new().name(name.to_owned()).spawn(move || work(&shared))
}
