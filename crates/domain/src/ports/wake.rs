//! Notifies threads that send events or mails that there is something to send.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Wakes one thread that waits for work. Threads that commit work notify it, from any thread. A notification
/// costs one lock, may be repeated freely, and is remembered if no thread waits yet. Clones share the same
/// notification.
#[derive(Debug, Clone, Default)]
pub struct Wake {
    bell: Arc<(Mutex<bool>, Condvar)>,
}

impl Wake {
    /// Makes the waiting thread look for work at once, or as soon as it waits again.
    pub fn wake(&self) {
        let (rung, sound) = &*self.bell;
        *rung.lock().unwrap_or_else(PoisonError::into_inner) = true;
        sound.notify_one();
    }

    /// Waits for a notification, for at most this long. Returns whether one came. An earlier notification
    /// counts.
    pub fn wait(&self, at_most: Duration) -> bool {
        let (rung, sound) = &*self.bell;
        let rung = rung.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut rung, _) =
            sound.wait_timeout_while(rung, at_most, |rung| !*rung).unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *rung)
    }
}

/// The number of processes that send from one database, including this one. Clones share the same number.
#[derive(Debug, Clone)]
pub struct Processes(Arc<AtomicUsize>);

impl Processes {
    /// The last counted number; 1 if it was never counted.
    #[must_use]
    pub fn count(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }

    /// Sets the number.
    pub fn counted(&self, processes: usize) {
        self.0.store(processes.max(1), Ordering::Relaxed);
    }
}

impl Default for Processes {
    fn default() -> Self {
        Self(Arc::new(AtomicUsize::new(1)))
    }
}

/// The notifications for all senders, and the number of processes that send.
#[derive(Debug, Clone, Default)]
pub struct Wakes {
    /// Wakes the dispatcher of events.
    pub events: Wake,
    /// Wakes the sender of mails.
    pub mails: Wake,
    /// Wakes the thread that notifies the other processes on the same database.
    pub elsewhere: Wake,
    /// The number of processes that send.
    pub processes: Processes,
}

impl Wakes {
    /// Wakes the senders of this process: something may have been queued elsewhere.
    pub fn here(&self) {
        self.events.wake();
        self.mails.wake();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::Wake;

    #[test]
    fn a_ring_is_heard_once_also_afterwards_and_from_elsewhere() {
        let wake = Wake::default();
        assert!(!wake.wait(Duration::ZERO));
        wake.wake();
        wake.wake();
        assert!(wake.wait(Duration::ZERO));
        assert!(!wake.wait(Duration::ZERO));
        let ringer = wake.clone();
        let rings = std::thread::spawn(move || ringer.wake());
        assert!(wake.wait(Duration::from_secs(60)));
        rings.join().unwrap();
    }
}
