//! A dispatcher at work, and its end.

use std::io;
use std::sync::{Arc, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::shared::Shared;
use super::{Dispatcher, claimer, settler};

/// A dispatcher at work. Dropped without [`stop`](Self::stop), it stops as one whose deadline is over.
pub struct Running {
    shared: Arc<Shared>,
    claimer: Option<JoinHandle<()>>,
    settler: Option<JoinHandle<()>>,
}

/// How a dispatcher ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stopped {
    /// Attempts that were still under way, or whose settlement could not be written: these events will be sent
    /// again when their leases end.
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
        // If the second thread cannot be had, dropping what is there ends the first.
        running.settler = Some(spawn("webhook-settler", &running.shared, settler::settle_until_stopped)?);
        running.claimer = Some(spawn("webhook-claimer", &running.shared, claimer::claim_until_stopped)?);
        Ok(running)
    }

    /// Attempts in flight now: under way, or not settled yet.
    pub fn in_flight(&self) -> usize {
        self.shared.state().core.in_flight()
    }

    /// Stops: claims nothing more, begins no attempt, releases what waits, and waits so long for the attempts under
    /// way and their settlements.
    #[must_use = "tells whether anything was left"]
    pub fn stop(mut self, deadline: Duration) -> Stopped {
        self.begin_to_stop();
        let waited =
            self.shared.progress.wait_timeout_while(self.shared.state(), deadline, |it| !it.is_over());
        let (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        let (is_over, abandoned) = (state.is_over(), state.core.in_flight());
        drop(state);
        self.abandon();
        // A thread that the journal does not let go is not waited for.
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
