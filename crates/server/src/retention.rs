//! Letting go of what is done with, in steps so small that nobody waits behind one.

use std::time::Duration;

use guerdon_domain::audit_log::Action;
use guerdon_domain::ports::{Context, Setting, Store, StoreError, StoreExt, Timestamp};

use crate::settings::Retention;
use crate::steps::Steps;

/// How many rows one step looks at, at first, at least and at most: as many as go in moments, on a database that nobody has
/// read yet as well.
const AT_FIRST: i64 = 50;
const LEAST: i64 = 20;
const MOST: i64 = 200;

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
    let mut steps = steps();
    pruned.idempotency_records = all(&mut steps, |limit| records(store, now, limit))?;
    if let Some(before) = retention.events.map(|it| now - it) {
        pruned.events = events(steps.anew(), store, before)?;
    }
    if let Some(before) = retention.mails.map(|it| now - it) {
        pruned.mails = all(steps.anew(), |limit| store.transaction(|tx| tx.prune_mails(before, limit)))?;
    }
    all(steps.anew(), |limit| store.transaction(|tx| tx.prune_figures(now, limit)))?;
    pruned.longest_step = steps.longest();
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
    all(&mut steps(), |limit| records(store, now, limit))
}

fn records(store: &dyn Store, now: Timestamp, limit: i64) -> Result<usize, StoreError> {
    store.transaction(|tx| tx.prune_idempotency_records(now, limit))
}

/// Takes steps until one finds nothing; answers how much went.
fn all(steps: &mut Steps, take: impl Fn(i64) -> Result<usize, StoreError>) -> Result<usize, StoreError> {
    let mut gone = 0;
    loop {
        let went = steps.step(&take)?;
        gone += went;
        if went == 0 {
            return Ok(gone);
        }
    }
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

fn steps() -> Steps {
    Steps::new(AT_FIRST, LEAST..=MOST)
}
