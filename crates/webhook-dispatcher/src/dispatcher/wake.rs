//! The bell that wakes the dispatcher.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Tells the dispatcher that an event may be due: rung by whoever committed one, from any thread. It costs a lock
/// and nothing more, may be rung as often as one likes, and before the dispatcher has started.
#[derive(Debug, Clone, Default)]
pub struct Wake {
    bell: Arc<(Mutex<bool>, Condvar)>,
}

impl Wake {
    /// Has the dispatcher look into the outbox as soon as it can.
    pub fn wake(&self) {
        let (rung, sound) = &*self.bell;
        *rung.lock().unwrap_or_else(PoisonError::into_inner) = true;
        sound.notify_one();
    }

    /// Waits until it is rung, for so long at most; whether it was. One that was rung before is heard at once.
    pub(super) fn wait(&self, at_most: Duration) -> bool {
        let (rung, sound) = &*self.bell;
        let rung = rung.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut rung, _) =
            sound.wait_timeout_while(rung, at_most, |rung| !*rung).unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *rung)
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
