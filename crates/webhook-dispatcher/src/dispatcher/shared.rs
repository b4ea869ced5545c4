//! The state that the threads of a dispatcher share.

use std::sync::{Condvar, Mutex, MutexGuard};
use std::time::Instant;

use super::Dispatcher;
use super::core::{Core, Now};
use super::step::{Holds, hold};

pub(super) struct Shared {
    pub(super) parts: Dispatcher,
    started: Instant,
    state: Mutex<SharedState>,
    /// Wakes senders: an attempt may begin, or the dispatcher stops.
    pub(super) work: Condvar,
    /// Wakes the settler: a settlement is queued, or the dispatcher stops.
    pub(super) settlements: Condvar,
    /// Wakes callers that wait for the end: something was settled, or a thread ended.
    pub(super) progress: Condvar,
}

pub(super) struct SharedState {
    pub(super) core: Core,
    /// The number of sender threads.
    pub(super) threads: usize,
    /// The number of sender threads that wait for work.
    pub(super) idle: usize,
    pub(super) is_stopping: bool,
    /// Whether the caller that stops the dispatcher has stopped waiting.
    pub(super) is_abandoned: bool,
    pub(super) claims_no_more: bool,
}

impl SharedState {
    /// Whether everything that was claimed is settled and nothing more will be claimed.
    pub(super) fn is_over(&self) -> bool {
        self.claims_no_more && self.core.is_empty()
    }
}

impl Shared {
    pub(super) fn new(parts: Dispatcher) -> Self {
        let state = SharedState {
            core: Core::new(parts.limits, parts.schedule),
            threads: 0,
            idle: 0,
            is_stopping: false,
            is_abandoned: false,
            claims_no_more: false,
        };
        Self {
            parts,
            started: Instant::now(),
            state: Mutex::new(state),
            work: Condvar::new(),
            settlements: Condvar::new(),
            progress: Condvar::new(),
        }
    }

    pub(super) fn state(&self) -> MutexGuard<'_, SharedState> {
        hold(&self.state)
    }

    pub(super) fn now(&self) -> Now {
        Now { wall: self.parts.clock.now(), steady: self.started.elapsed() }
    }
}

impl Holds for Shared {
    fn with<T>(&self, work: impl FnOnce(&mut Core) -> T) -> T {
        work(&mut self.state().core)
    }
}
