//! Whether the database answers and takes writes, as far as can be told without asking it.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use guerdon_domain::ports::StoreError;

/// The database counts as answering for this long after it did.
const ANSWER_VALID_FOR: Duration = Duration::from_millis(1500);

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
    writes: Writes,
}

/// Whether writes succeed.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Writes {
    #[default]
    Succeed,
    /// A request failed; a write is to be tried.
    Doubted,
    /// The last write that was tried failed.
    Fail,
}

fn is_recent(at: Option<Instant>) -> bool {
    at.is_some_and(|it| it.elapsed() < ANSWER_VALID_FOR)
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

    /// A request failed because of the database. If that was unavailable, it is in doubt whether writes succeed; a lost race
    /// says nothing about them.
    pub(crate) fn note_failure(&self, cause: &StoreError) {
        let mut beats = self.beats();
        if beats.writes == Writes::Succeed
            && matches!(cause, StoreError::Unavailable(_) | StoreError::OutcomeUnknown(_))
        {
            beats.writes = Writes::Doubted;
        }
    }

    /// Runs `write` if it is in doubt whether writes succeed, or if the last one failed; to be called about once a second.
    /// `None` while there is no doubt, while the database does not even answer reads, and if the write lost a race: that
    /// proves nothing, so the next call tries again.
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

    /// Whether the last write that was tried succeeded, or none had to be tried.
    pub fn takes_writes(&self) -> bool {
        self.beats().writes != Writes::Fail
    }

    /// Whether a look was answered lately.
    pub fn is_fresh(&self) -> bool {
        is_recent(self.beats().looked)
    }

    /// Whether it neither answers nor breaks off: a look hangs, and nobody else has an answer from it either. A look of a
    /// busy service may well wait for its turn.
    pub(crate) fn is_silent(&self) -> bool {
        let beats = self.beats();
        beats.looking.is_some_and(|it| it.elapsed() >= ANSWER_VALID_FOR) && !is_recent(beats.served)
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
