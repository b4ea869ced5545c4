//! Notifies sender threads of new events and notifications, and the API of new events.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use super::CommitsInProgress;
use crate::values::ProviderId;

/// Wakes one thread that waits for work. Threads that commit work notify it. Notifying is cheap and idempotent. If no
/// thread waits, the next wait returns immediately. Clones share the same notification.
#[derive(Debug, Clone, Default)]
pub struct Notifier {
    signal: Arc<(Mutex<bool>, Condvar)>,
}

impl Notifier {
    /// Makes the waiting thread look for work immediately, or as soon as it waits again.
    pub fn notify_one(&self) {
        let (notified, condvar) = &*self.signal;
        *notified.lock().unwrap_or_else(PoisonError::into_inner) = true;
        condvar.notify_one();
    }

    /// Waits for a notification, at most for `timeout`. Returns whether one has arrived since the last call
    /// returned.
    pub fn wait_timeout(&self, timeout: Duration) -> bool {
        let (notified, condvar) = &*self.signal;
        let notified = notified.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut notified, _) = condvar
            .wait_timeout_while(notified, timeout, |notified| !*notified)
            .unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *notified)
    }
}

/// Whose events were committed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommittedEvents<'a> {
    /// These providers have new events.
    OfProviders(&'a [ProviderId]),
    /// Another process has committed something.
    OfUnknownProviders,
}

type CommitListener = dyn Fn(CommittedEvents<'_>) + Send + Sync;

/// Notifies the API of providers with new events, so that requests can wait for them. Clones share the listener.
#[derive(Clone, Default)]
pub struct EventFeedNotifier(Arc<OnceLock<Box<CommitListener>>>);

impl EventFeedNotifier {
    /// Sets the listener, unless there is one. It is called after commits, from any thread, and must not block.
    pub fn set_listener(&self, listener: impl Fn(CommittedEvents<'_>) + Send + Sync + 'static) {
        self.0.get_or_init(|| Box::new(listener));
    }

    /// Calls the listener, if there is one.
    pub fn notify(&self, committed: CommittedEvents<'_>) {
        if let Some(listener) = self.0.get() {
            listener(committed);
        }
    }
}

impl fmt::Debug for EventFeedNotifier {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("EventFeedNotifier").field("has_listener", &self.0.get().is_some()).finish()
    }
}

/// The number of processes that send from one database, including this one. Clones share the same number.
#[derive(Debug, Clone)]
pub struct ProcessCount(Arc<AtomicUsize>);

impl ProcessCount {
    /// The number that was last set; 1 if it was never set.
    #[must_use]
    pub fn get(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }

    /// Sets the number; 0 counts as 1.
    pub fn set(&self, processes: usize) {
        self.0.store(processes.max(1), Ordering::Relaxed);
    }
}

impl Default for ProcessCount {
    fn default() -> Self {
        Self(Arc::new(AtomicUsize::new(1)))
    }
}

/// What the store shares with the rest of the process: the notifications for all senders and for the event feed, the
/// number of processes that send, and the commits in progress.
#[derive(Debug, Clone, Default)]
pub struct Notifiers {
    /// Wakes the dispatcher of events.
    pub events: Notifier,
    /// Wakes the sender of notifications.
    pub notifications: Notifier,
    /// Notifies the API of new events.
    pub event_feed: EventFeedNotifier,
    /// Wakes the thread that notifies the other processes on the same database.
    pub other_processes: Notifier,
    /// The number of processes that send.
    pub processes: ProcessCount,
    /// The commits in progress.
    pub commits: CommitsInProgress,
}

impl Notifiers {
    /// Notifies the senders and the event feed of this process, because another process may have queued
    /// something.
    pub fn notify_local_senders(&self) {
        self.events.notify_one();
        self.notifications.notify_one();
        self.event_feed.notify(CommittedEvents::OfUnknownProviders);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::Notifier;

    #[test]
    fn a_notification_is_received_once_also_later_and_from_other_threads() {
        let notifier = Notifier::default();
        assert!(!notifier.wait_timeout(Duration::ZERO));
        notifier.notify_one();
        notifier.notify_one();
        assert!(notifier.wait_timeout(Duration::ZERO));
        assert!(!notifier.wait_timeout(Duration::ZERO));
        let other = notifier.clone();
        let notifying = std::thread::spawn(move || other.notify_one());
        assert!(notifier.wait_timeout(Duration::from_secs(60)));
        notifying.join().unwrap();
    }
}
