//! Sealing: chaining what is committed, off the way of requests.

use std::sync::Arc;
use std::thread::sleep; // tidy: transactions of other processes end when they end
use std::time::{Duration, Instant};

use guerdon_domain::ports::{Clock, Seal, Store, StoreError, StoreExt, Timestamp};

use crate::hex;
use crate::steps::Steps;
use crate::world::SystemClock;

/// How long a transaction that is under way is waited for.
const TRIES: u32 = 200;
const BETWEEN_TRIES: Duration = Duration::from_millis(50);
/// How many causes one seal holds at first, at least and at most: as many as are written down in moments. Each company adds to
/// that, for its figures.
const CAUSES: i64 = 2_000;
const CAUSES_MIN: i64 = 200;
const CAUSES_MAX: i64 = 20_000;

/// How often the log is told of the head, so that a copy of the log is a copy of heads too.
const TELL_EVERY: Duration = Duration::from_secs(24 * 60 * 60);

/// Sealing as it goes on in a service.
pub(crate) struct Sealing {
    store: Arc<dyn Store>,
    told_at: Option<Instant>,
    was_well: bool,
    steps: Steps,
}

impl Sealing {
    pub(crate) fn new(store: Arc<dyn Store>) -> Self {
        Self { store, told_at: None, was_well: true, steps: Steps::new(CAUSES, CAUSES_MIN..=CAUSES_MAX) }
    }

    /// Seals what is new, and tells the head once a day.
    pub(crate) fn go_on(&mut self) {
        loop {
            match seal(self.store.as_ref(), SystemClock.now(), self.steps.size()) {
                Ok(Some(took)) => {
                    self.was_well = true;
                    self.steps.took(took);
                }
                Ok(None) => return self.tell(),
                Err(cause) => {
                    if std::mem::replace(&mut self.was_well, false) {
                        log::warn!("what is committed cannot be sealed: {cause}");
                    }
                    return;
                }
            }
        }
    }

    fn tell(&mut self) {
        if self.told_at.is_some_and(|it| it.elapsed() < TELL_EVERY) {
            return;
        }
        let last = self.store.snapshot(|reads| -> Result<_, StoreError> { reads.last_seal() });
        if let Ok(Some(seal)) = last {
            log::info!("the ledger is sealed up to seal {}, head {}", seal.sequence, hex::encode(&seal.head));
            self.told_at = Some(Instant::now());
        }
    }
}

/// Seals what is new, a bounded part of it; answers how long writing it took. None where nothing is new, or another process
/// was first.
fn seal(store: &dyn Store, now: Timestamp, causes_max: i64) -> Result<Option<Duration>, StoreError> {
    let next = store.snapshot(|reads| reads.next_seal(now, causes_max))?;
    let Some(next) = next else { return Ok(None) };
    let began = Instant::now();
    let written = store.transaction(|tx| tx.insert_seal(&next))?;
    Ok(written.then(|| began.elapsed()))
}

/// Seals all that is committed; answers the latest seal, which is none where nothing was ever committed. Waits a while
/// for transactions that are under way, before which nothing that came after them can be sealed; an error where one
/// takes too long.
pub(crate) fn seal_all(store: &dyn Store, now: Timestamp) -> Result<Option<Seal>, StoreError> {
    for _ in 0..TRIES {
        while seal(store, now, CAUSES)?.is_some() {}
        if !store.snapshot(|reads| reads.has_unsealed())? {
            return store.snapshot(|reads| reads.last_seal());
        }
        sleep(BETWEEN_TRIES);
    }
    Err(StoreError::Unavailable("a transaction or a distribution that began before is still under way: try again, or see `guerdon status`".into()))
}
