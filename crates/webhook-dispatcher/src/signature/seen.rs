//! The memory against repetition within the replay window.

use std::collections::{HashSet, VecDeque};
use std::time::Duration;

use guerdon_domain::ports::Timestamp;

use super::{Delivery, REPLAY_WINDOW, VerifyError, signed_at};

/// Remembers the nonces of the deliveries of the last minutes. Ask it only after
/// [`verify`](super::verify) was content: then nobody but the service can fill it.
///
/// It lives in this process's memory. A receiver of several processes, or one that must refuse repetitions over a
/// restart, keeps the ids of handled events in its database instead.
#[derive(Debug)]
pub struct SeenNonces {
    window: Duration,
    seen: HashSet<String>,
    by_age: VecDeque<(Timestamp, String)>,
}

impl Default for SeenNonces {
    fn default() -> Self {
        Self::new(REPLAY_WINDOW)
    }
}

impl SeenNonces {
    /// A memory for the window with which deliveries are verified.
    pub fn new(window: Duration) -> Self {
        Self { window, seen: HashSet::new(), by_age: VecDeque::new() }
    }

    /// Remembers a verified delivery's nonce. `now` is the time with which the delivery was verified.
    ///
    /// # Errors
    ///
    /// [`VerifyError::Replayed`] if the nonce was remembered before; [`VerifyError::Malformed`] if the timestamp cannot be
    /// parsed.
    pub fn remember(
        &mut self,
        delivery: &Delivery<'_>,
        now: impl Into<Timestamp>,
    ) -> Result<(), VerifyError> {
        signed_at(delivery)?;
        let now = now.into();
        self.forget(now);
        if !self.seen.insert(delivery.nonce.to_owned()) {
            return Err(VerifyError::Replayed);
        }
        self.by_age.push_back((now, delivery.nonce.to_owned()));
        Ok(())
    }

    /// How many nonces are remembered.
    pub fn len(&self) -> usize {
        self.seen.len()
    }

    /// Whether none is.
    pub fn is_empty(&self) -> bool {
        self.seen.is_empty()
    }

    /// A timestamp may lie one window ahead, and is then accepted for two: so long a nonce is kept.
    fn forget(&mut self, now: Timestamp) {
        while self.by_age.front().is_some_and(|(at, _)| now - *at > self.window * 2) {
            if let Some((_, nonce)) = self.by_age.pop_front() {
                self.seen.remove(&nonce);
            }
        }
    }
}
