//! Detection of replays within the replay window.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use crate::signature::{Delivery, REPLAY_WINDOW, VerifyError};

/// The default maximum number of nonces in [`SeenNonces`], enough for 1,700 deliveries per second.
pub const SEEN_NONCES_MAX: usize = 1 << 20;

/// The nonces of recently accepted deliveries, in this process's memory. Call [`remember`](Self::remember) only after
/// [`verify`](crate::verify) succeeded, so that only the service can add nonces.
///
/// Each call takes amortised constant time. Memory is bounded: beyond the limit the oldest nonce is forgotten first.
///
/// A receiver that has several processes, or that must detect replays across a restart, keeps the nonces of twice the
/// window in its database instead. The event's id cannot replace them: the signature does not cover it.
#[derive(Debug)]
pub struct SeenNonces {
    window: Duration,
    max_nonces: usize,
    nonces: HashSet<Arc<str>>,
    oldest_first: VecDeque<(SystemTime, Arc<str>)>,
}

impl Default for SeenNonces {
    fn default() -> Self {
        Self::new(REPLAY_WINDOW)
    }
}

impl SeenNonces {
    /// Creates an empty set. `window` is the replay window of the verification.
    pub fn new(window: Duration) -> Self {
        Self::with_limit(window, SEEN_NONCES_MAX)
    }

    /// Creates an empty set of at most `max_nonces` nonces. A limit of 0 counts as 1.
    pub fn with_limit(window: Duration, max_nonces: usize) -> Self {
        let (nonces, oldest_first) = (HashSet::new(), VecDeque::new());
        Self { window, max_nonces: max_nonces.max(1), nonces, oldest_first }
    }

    /// Adds the nonce of a verified delivery. `now` is the time at which the delivery was verified.
    ///
    /// # Errors
    ///
    /// [`VerifyError::Replayed`] if the nonce is already present: reject the delivery.
    pub fn remember(&mut self, delivery: &Delivery<'_>, now: SystemTime) -> Result<(), VerifyError> {
        self.forget_expired(now);
        if self.nonces.contains(delivery.nonce) {
            return Err(VerifyError::Replayed);
        }
        if self.nonces.len() >= self.max_nonces {
            self.forget_oldest();
        }
        let nonce: Arc<str> = delivery.nonce.into();
        self.nonces.insert(Arc::clone(&nonce));
        self.oldest_first.push_back((now, nonce));
        Ok(())
    }

    /// The number of nonces in the set.
    pub fn len(&self) -> usize {
        self.nonces.len()
    }

    /// Whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.nonces.is_empty()
    }

    /// A timestamp may be one window ahead of the receiver's clock and is then valid for two windows, so nonces are
    /// remembered for two windows.
    fn forget_expired(&mut self, now: SystemTime) {
        let held = self.window * 2;
        let is_expired = |at: SystemTime| now.duration_since(at).is_ok_and(|age| age > held);
        while self.oldest_first.front().is_some_and(|(at, _)| is_expired(*at)) {
            self.forget_oldest();
        }
    }

    fn forget_oldest(&mut self) {
        if let Some((_, nonce)) = self.oldest_first.pop_front() {
            self.nonces.remove(&nonce);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delivery_with_nonce(nonce: &str) -> Delivery<'_> {
        Delivery { url: "", timestamp: "", nonce, signature: "", body: b"" }
    }

    #[test]
    fn nonce_is_accepted_once_in_two_windows() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000);
        let mut seen = SeenNonces::default();
        assert!(seen.is_empty());
        assert_eq!(seen.remember(&delivery_with_nonce("00"), now), Ok(()));
        assert!(!seen.is_empty());
        assert_eq!(seen.remember(&delivery_with_nonce("00"), now), Err(VerifyError::Replayed));
        assert_eq!(seen.remember(&delivery_with_nonce("01"), now), Ok(()));
        let last = now + REPLAY_WINDOW * 2;
        assert_eq!(seen.remember(&delivery_with_nonce("00"), last), Err(VerifyError::Replayed));
        assert_eq!(seen.len(), 2);
        assert_eq!(seen.remember(&delivery_with_nonce("02"), last + Duration::from_micros(1)), Ok(()));
        assert_eq!(seen.len(), 1);
        assert_eq!(
            seen.remember(&delivery_with_nonce("02"), now),
            Err(VerifyError::Replayed),
            "clock moved backwards"
        );
    }

    #[test]
    fn oldest_nonce_is_forgotten_at_the_limit() {
        let mut seen = SeenNonces::with_limit(REPLAY_WINDOW, 2);
        for nonce in ["00", "01", "02"] {
            assert_eq!(seen.remember(&delivery_with_nonce(nonce), SystemTime::UNIX_EPOCH), Ok(()));
        }
        assert_eq!(seen.len(), 2);
        assert_eq!(
            seen.remember(&delivery_with_nonce("01"), SystemTime::UNIX_EPOCH),
            Err(VerifyError::Replayed)
        );
        assert_eq!(seen.remember(&delivery_with_nonce("00"), SystemTime::UNIX_EPOCH), Ok(()));
    }
}
