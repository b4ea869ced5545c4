//! Whether the database answers, as far as can be told without asking it.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The database counts as answering for this long after it did.
const FRESH: Duration = Duration::from_millis(1500);

/// When the database last answered. Probes and requests ask this and never the database, so they cannot pile up on it.
#[derive(Debug, Default)]
pub struct Pulse(Mutex<Beats>);

#[derive(Debug, Default)]
struct Beats {
    /// Since when a look has been waiting for its answer.
    looking: Option<Instant>,
    /// When a look was answered.
    looked: Option<Instant>,
    /// When a request was answered.
    served: Option<Instant>,
}

fn is_recent(at: Option<Instant>) -> bool {
    at.is_some_and(|it| it.elapsed() < FRESH)
}

impl Pulse {
    fn beats(&self) -> MutexGuard<'_, Beats> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks at the database, to be done several times a second. A failure is no answer.
    pub fn look<T, E>(&self, look: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
        self.beats().looking = Some(Instant::now());
        let looked = look();
        let mut beats = self.beats();
        beats.looking = None;
        if looked.is_ok() {
            beats.looked = Some(Instant::now());
        }
        looked
    }

    /// A request was answered by it just now.
    pub(crate) fn served(&self) {
        self.beats().served = Some(Instant::now());
    }

    /// Whether a look was answered lately.
    pub fn is_fresh(&self) -> bool {
        is_recent(self.beats().looked)
    }

    /// Whether it neither answers nor breaks off: a look hangs, and nobody else has an answer from it either. A look of a
    /// busy service may well wait for its turn.
    pub(crate) fn is_silent(&self) -> bool {
        let beats = self.beats();
        beats.looking.is_some_and(|it| it.elapsed() >= FRESH) && !is_recent(beats.served)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn since(at: Instant) -> Option<Instant> {
        at.checked_sub(FRESH)
    }

    #[test]
    fn a_database_is_silent_where_a_look_hangs_and_nobody_is_served() {
        let (pulse, now) = (Pulse::default(), Instant::now());
        assert!(!pulse.is_silent() && !pulse.is_fresh());
        pulse.beats().looking = since(now);
        assert!(pulse.is_silent());
        pulse.served();
        assert!(!pulse.is_silent(), "slow, not silent");
        pulse.beats().served = since(now);
        assert!(pulse.is_silent());
        assert_eq!(pulse.look(|| Err::<(), _>("away")), Err("away"));
        assert!(!pulse.is_silent() && !pulse.is_fresh(), "it broke off");
        assert_eq!(pulse.look(|| Ok::<_, ()>(1)), Ok(1));
        assert!(pulse.is_fresh());
        pulse.beats().looked = since(now);
        assert!(!pulse.is_fresh());
    }
}
