//! The state that the threads of a dispatcher share.

use std::sync::{Condvar, Mutex, MutexGuard};
use std::time::Instant;

use super::Dispatcher;
use super::claim_step::CoreAccess;
use super::core::{ClockReading, Core};
use crate::mutex::lock_mutex;

pub(super) struct SharedDispatcher {
    pub(super) parts: Dispatcher,
    started: Instant,
    state: Mutex<DispatcherState>,
    /// Wakes senders: an attempt may begin, or the dispatcher stops.
    pub(super) work: Condvar,
    /// Wakes the settler: a settlement is queued, or the dispatcher stops.
    pub(super) settlements: Condvar,
    /// Wakes callers that wait for the dispatcher to stop: an event was settled, or a thread ended.
    pub(super) progress: Condvar,
}

pub(super) struct DispatcherState {
    pub(super) core: Core,
    /// The number of sender threads.
    pub(super) threads: usize,
    /// The number of sender threads that wait for work.
    pub(super) idle: usize,
    /// Whether the last attempt to start a thread failed, so that repeated failures are logged only once.
    pub(super) cannot_start_thread: bool,
    pub(super) is_stopping: bool,
    /// Whether the caller of `stop` no longer waits for the dispatcher.
    pub(super) is_abandoned: bool,
    pub(super) has_stopped_claiming: bool,
}

impl DispatcherState {
    /// Whether all claimed events are settled and no more will be claimed.
    pub(super) fn is_finished(&self) -> bool {
        self.has_stopped_claiming && self.core.is_empty()
    }
}

impl SharedDispatcher {
    pub(super) fn new(parts: Dispatcher) -> Self {
        let state = DispatcherState {
            core: Core::new(parts.limits, parts.schedule),
            threads: 0,
            idle: 0,
            cannot_start_thread: false,
            is_stopping: false,
            is_abandoned: false,
            has_stopped_claiming: false,
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

    pub(super) fn lock_state(&self) -> MutexGuard<'_, DispatcherState> {
        lock_mutex(&self.state)
    }

    pub(super) fn now(&self) -> ClockReading {
        ClockReading { wall: self.parts.clock.now(), monotonic: self.started.elapsed() }
    }
}

impl CoreAccess for SharedDispatcher {
    fn with_core<T>(&self, work: impl FnOnce(&mut Core) -> T) -> T {
        work(&mut self.lock_state().core)
    }
}
