//! Waking whoever sends, once there is something to send.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Wakes one thread that waits for work: rung by whoever committed some, from any thread. It costs a lock and nothing more,
/// may be rung as often as one likes, and before anybody waits. Its clones are the same bell.
#[derive(Debug, Clone, Default)]
pub struct Wake {
    bell: Arc<(Mutex<bool>, Condvar)>,
}

impl Wake {
    /// Has whoever waits look for work at once, or as soon as it waits again.
    pub fn wake(&self) {
        let (rung, sound) = &*self.bell;
        *rung.lock().unwrap_or_else(PoisonError::into_inner) = true;
        sound.notify_one();
    }

    /// Waits until it is rung, for so long at most; whether it was. One that was rung before is heard at once.
    pub fn wait(&self, at_most: Duration) -> bool {
        let (rung, sound) = &*self.bell;
        let rung = rung.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut rung, _) =
            sound.wait_timeout_while(rung, at_most, |rung| !*rung).unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *rung)
    }
}

/// How many processes send from one database, this one included. Its clones are the same figure.
#[derive(Debug, Clone)]
pub struct Processes(Arc<AtomicUsize>);

impl Processes {
    /// So many as last were counted; one where nobody counts.
    #[must_use]
    pub fn count(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }

    /// Notes how many there are.
    pub fn counted(&self, processes: usize) {
        self.0.store(processes.max(1), Ordering::Relaxed);
    }
}

impl Default for Processes {
    fn default() -> Self {
        Self(Arc::new(AtomicUsize::new(1)))
    }
}

/// The bells of all who send, and how many processes they are of.
#[derive(Debug, Clone, Default)]
pub struct Wakes {
    /// Whoever delivers events.
    pub events: Wake,
    /// Whoever sends mails.
    pub mails: Wake,
    /// Whoever tells the other processes on the same database.
    pub elsewhere: Wake,
    /// Who else sends.
    pub processes: Processes,
}

impl Wakes {
    /// Wakes whoever sends in this process: something may have been queued elsewhere.
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
