//! The health of the database, as known from recent queries: no request or probe queries it to find out.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use guerdon_domain::ports::StoreError;

/// How long after a response the database counts as responsive.
const ANSWER_VALID_FOR: Duration = Duration::from_millis(1500);

/// When the database last responded. Probes and requests read this and never query the database, so they cannot pile up on it.
#[derive(Debug, Default)]
pub struct Pulse(Mutex<Beats>);

#[derive(Debug, Default)]
struct Beats {
    /// When the health query in progress began.
    looking: Option<Instant>,
    /// When a health query last succeeded.
    looked: Option<Instant>,
    /// When a request's query last succeeded.
    served: Option<Instant>,
    writes: Writes,
}

/// Whether writes succeed.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Writes {
    #[default]
    Succeed,
    /// A request failed: a test write is due.
    Doubted,
    /// The last test write failed.
    Fail,
}

fn is_recent(at: Option<Instant>) -> bool {
    at.is_some_and(|instant| instant.elapsed() < ANSWER_VALID_FOR)
}

impl Pulse {
    fn beats(&self) -> MutexGuard<'_, Beats> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs a health query; call it several times a second. An error does not count as a response.
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

    /// Records that a request's query succeeded.
    pub(crate) fn served(&self) {
        self.beats().served = Some(Instant::now());
    }

    /// Records that a request failed in the store. If the database was unavailable, a test write becomes due; a lost race does not
    /// concern its health.
    pub(crate) fn note_failure(&self, cause: &StoreError) {
        let mut beats = self.beats();
        if beats.writes == Writes::Succeed
            && matches!(cause, StoreError::Unavailable(_) | StoreError::OutcomeUnknown(_))
        {
            beats.writes = Writes::Doubted;
        }
    }

    /// Runs the test write `write` if one is due or the last one failed; call it about once a second. Returns `None` if none is due,
    /// if the database does not respond to reads either, and if the write lost a race, which the next call tries again.
    pub fn try_write<T>(
        &self,
        write: impl FnOnce() -> Result<T, StoreError>,
    ) -> Option<Result<T, StoreError>> {
        if !self.is_fresh() || self.beats().writes == Writes::Succeed {
            return None;
        }
        let written = write();
        if matches!(written, Err(StoreError::Busy | StoreError::DeadlineExceeded)) {
            return None;
        }
        self.beats().writes = if written.is_ok() { Writes::Succeed } else { Writes::Fail };
        Some(written)
    }

    /// Whether the last test write succeeded or none was due.
    pub fn takes_writes(&self) -> bool {
        self.beats().writes != Writes::Fail
    }

    /// Whether a health query succeeded recently.
    pub fn is_fresh(&self) -> bool {
        is_recent(self.beats().looked)
    }

    /// Whether the database hangs: a health query is in progress for too long and no other query succeeded meanwhile. A health query
    /// of a busy service may wait for a connection.
    pub(crate) fn is_silent(&self) -> bool {
        let beats = self.beats();
        beats.looking.is_some_and(|started_at| started_at.elapsed() >= ANSWER_VALID_FOR)
            && !is_recent(beats.served)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn since(at: Instant) -> Option<Instant> {
        at.checked_sub(ANSWER_VALID_FOR)
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

    #[test]
    fn a_write_is_tried_after_a_failure_until_it_succeeds() {
        let pulse = Pulse::default();
        let unavailable = StoreError::Unavailable("full".to_owned());
        let full = || Err::<(), _>(unavailable.clone());
        let is_tried = || pulse.try_write(full).is_some();
        assert_eq!(pulse.look(|| Ok::<_, ()>(())), Ok(()));
        assert!(!is_tried());
        pulse.note_failure(&StoreError::Busy);
        assert!(!is_tried(), "a lost race raises no doubt");
        pulse.note_failure(&unavailable);
        assert!(pulse.takes_writes(), "one failed request does not prove it");
        assert!(matches!(pulse.try_write(full), Some(Err(StoreError::Unavailable(_)))));
        assert!(!pulse.takes_writes());
        pulse.note_failure(&unavailable);
        assert!(!pulse.takes_writes());
        pulse.beats().looked = since(Instant::now());
        assert!(!is_tried(), "the database is away");
        pulse.beats().looked = Some(Instant::now());
        assert!(matches!(pulse.try_write(|| Ok(())), Some(Ok(()))));
        assert!(pulse.takes_writes());
        assert!(!is_tried());
    }

    #[test]
    fn a_write_that_is_tried_and_loses_a_race_changes_nothing() {
        let pulse = Pulse::default();
        assert_eq!(pulse.look(|| Ok::<_, ()>(())), Ok(()));
        for before in [Writes::Doubted, Writes::Fail] {
            pulse.beats().writes = before;
            assert!(pulse.try_write(|| Err::<(), _>(StoreError::Busy)).is_none());
            assert_eq!(pulse.beats().writes, before);
        }
    }
}
