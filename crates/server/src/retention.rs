//! Letting go of what is done with, in steps so small that nobody waits behind one.

use std::thread::sleep; // tidy: requests come between two steps
use std::time::{Duration, Instant};

use guerdon_domain::audit_log::Action;
use guerdon_domain::ports::{Context, Setting, Store, StoreError, StoreExt, Timestamp};

use crate::settings::Retention;

/// How many rows one step looks at, at first; fewer where a step takes longer than it should.
const AT_ONCE: i64 = 500;
const LEAST: i64 = 20;
/// How long a step should hold the writer at most.
const STEP: Duration = Duration::from_millis(20);

/// What went.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Pruned {
    /// Delivered events, each with its attempts.
    pub(crate) events: usize,
    /// Mails that were handed over.
    pub(crate) mails: usize,
    /// Answers kept for repeats that have expired.
    pub(crate) idempotency_records: usize,
    /// How long the longest step took, which others who write may have waited for.
    pub(crate) longest_step: Duration,
}

impl Pruned {
    pub(crate) fn is_nothing(&self) -> bool {
        self.events + self.mails + self.idempotency_records == 0
    }
}

/// Lets go of what retention allows. Whatever stops it, what went is gone whole, and the next run goes on.
pub(crate) fn prune(
    store: &dyn Store,
    retention: &Retention,
    context: &Context<'_>,
) -> Result<Pruned, StoreError> {
    let now = context.clock.now();
    let mut pruned = Pruned::default();
    let mut steps = Steps::default();
    pruned.idempotency_records = records(&mut steps, store, now)?;
    if let Some(before) = retention.events.map(|it| now - it) {
        pruned.events = events(steps.anew(), store, before)?;
    }
    if let Some(before) = retention.mails.map(|it| now - it) {
        pruned.mails = steps.anew().all(|limit| store.transaction(|tx| tx.prune_mails(before, limit)))?;
    }
    steps.anew().all(|limit| store.transaction(|tx| tx.prune_figures(now, limit)))?;
    pruned.longest_step = steps.longest;
    store.transaction(|tx| -> Result<(), StoreError> {
        if pruned.is_nothing() {
            return Ok(());
        }
        let Pruned { events, mails, idempotency_records, .. } = pruned;
        let said = format!("{events} events, {mails} mails, {idempotency_records} kept answers");
        tx.note(&context.entry(Action::Pruned).saying(said))
    })?;
    Ok(pruned)
}

/// Lets go of the answers that nobody can ask for any more.
pub(crate) fn expired(store: &dyn Store, now: Timestamp) -> Result<usize, StoreError> {
    records(&mut Steps::default(), store, now)
}

fn records(steps: &mut Steps, store: &dyn Store, now: Timestamp) -> Result<usize, StoreError> {
    steps.all(|limit| store.transaction(|tx| tx.prune_idempotency_records(now, limit)))
}

fn events(steps: &mut Steps, store: &dyn Store, before: Timestamp) -> Result<usize, StoreError> {
    // First it is noted that they may be gone, so that `guerdon verify` misses none that went.
    store.transaction(|tx| -> Result<(), StoreError> {
        let noted = tx.setting(Setting::EventsPrunedBefore)?.and_then(|it| it.parse::<i64>().ok());
        if noted.is_none_or(|it| it < before.unix_micros()) {
            tx.set_setting(Setting::EventsPrunedBefore, &before.unix_micros().to_string())?;
        }
        Ok(())
    })?;
    let (mut behind, mut gone) = (None, 0);
    loop {
        let (went, last) =
            steps.step(|limit| store.transaction(|tx| tx.prune_events(before, behind, limit)))?;
        gone += went;
        match last {
            None => return Ok(gone),
            it => behind = it,
        }
    }
}

/// Steps that are as large as is quick.
struct Steps {
    limit: i64,
    longest: Duration,
}

impl Default for Steps {
    fn default() -> Self {
        Self { limit: AT_ONCE, longest: Duration::ZERO }
    }
}

impl Steps {
    /// Goes on with steps of another kind.
    fn anew(&mut self) -> &mut Self {
        self.limit = AT_ONCE;
        self
    }

    /// Takes one step, and rests as long as it took.
    fn step<T>(&mut self, take: impl FnOnce(i64) -> Result<T, StoreError>) -> Result<T, StoreError> {
        let began = Instant::now();
        let done = take(self.limit)?;
        let took = began.elapsed();
        self.longest = self.longest.max(took);
        if took > STEP {
            self.limit = (self.limit / 2).max(LEAST);
        }
        sleep(took.min(STEP));
        Ok(done)
    }

    /// Takes steps until one finds nothing; answers how much went.
    fn all(&mut self, mut take: impl FnMut(i64) -> Result<usize, StoreError>) -> Result<usize, StoreError> {
        let mut gone = 0;
        loop {
            match self.step(&mut take)? {
                0 => return Ok(gone),
                went => gone += went,
            }
        }
    }
}
