//! Seals journal and audit entries, in the background and for `guerdon seal`.

use std::sync::Arc;
use std::thread::sleep; // tidy: waits for transactions of other processes
use std::time::{Duration, Instant};

use data_encoding::HEXLOWER;
use guerdon_domain::ports::{Clock, LedgerEnd, ReadTx, Seal, Store, StoreError, StoreExt, Timestamp};
use guerdon_domain::sealing::{SealOutcome, seal_until};

use super::pacer::AdaptivePacer;
use crate::platform::SystemClock;

const ATTEMPTS_MAX: u32 = 200;
const RETRY_INTERVAL: Duration = Duration::from_millis(50);
/// The number of new positions in the journal or the audit log from which a seal is written immediately. With fewer, a
/// service with little traffic would write a seal for every few entries, and each is verified every day for as long as
/// the ledger exists.
const POSITIONS_MIN: i64 = 1_000;
/// The age of the latest seal from which a seal is written for fewer entries.
const SEAL_AGE_MIN: Duration = Duration::from_secs(60);
/// How often the head is logged. A copy of the log can later prove that the ledger is unchanged up to the logged head.
const HEAD_LOG_INTERVAL: Duration = Duration::from_secs(24 * 60 * 60);

/// The background job that seals journal and audit entries.
pub(crate) struct SealingTask {
    store: Arc<dyn Store>,
    pacer: AdaptivePacer,
    /// The end of the ledger when this process last sealed.
    sealed_end: Option<LedgerEnd>,
    logged_at: Option<Instant>,
    /// Whether the previous run failed, so that an outage is logged only once, however long it lasts (a log throttle
    /// would repeat it at intervals).
    has_failed: bool,
}

impl SealingTask {
    pub(crate) fn new(store: Arc<dyn Store>) -> Self {
        Self { store, pacer: new_pacer(), sealed_end: None, logged_at: None, has_failed: false }
    }

    /// Seals new entries, and logs the head once a day. A failure is logged only once until sealing succeeds again.
    pub(crate) fn seal_and_log(&mut self) {
        match self.seal_new() {
            Ok(()) => {
                self.has_failed = false;
                self.log_head();
            }
            Err(cause) => {
                if !std::mem::replace(&mut self.has_failed, true) {
                    log::warn!(cause:%; "cannot seal new entries");
                }
            }
        }
    }

    /// Seals new entries if there are many, or if no instance has written a seal recently.
    fn seal_new(&mut self) -> Result<(), StoreError> {
        let store = self.store.as_ref();
        let (end, latest) = store.read_snapshot(|reads| -> Result<_, StoreError> {
            Ok((reads.ledger_end()?, reads.last_seal()?))
        })?;
        let now = SystemClock.now();
        let is_recent = latest.is_some_and(|seal| {
            // A seal from the future was written before the clock was set back.
            (seal.created_at..seal.created_at + SEAL_AGE_MIN).contains(&now)
        });
        if is_recent && self.sealed_end.is_some_and(|sealed| count_between(sealed, end) < POSITIONS_MIN) {
            return Ok(());
        }
        seal_until(store, end, now, &mut self.pacer)?;
        self.sealed_end = Some(end);
        Ok(())
    }

    fn log_head(&mut self) {
        if self.logged_at.is_some_and(|at| at.elapsed() < HEAD_LOG_INTERVAL) {
            return;
        }
        if let Ok(Some(seal)) = self.store.read_snapshot(|reads| reads.last_seal()) {
            log::info!(
                seal = seal.sequence, head = HEXLOWER.encode(&seal.head).as_str();
                "latest seal of the ledger: to verify its history later, pass this head to `guerdon verify --head`"
            );
            self.logged_at = Some(Instant::now());
        }
    }
}

/// The number of positions between two ends of the ledger. A position of PostgreSQL may have several entries, or none.
fn count_between(start: LedgerEnd, end: LedgerEnd) -> i64 {
    end.journal.saturating_sub(start.journal).max(end.audit_log.saturating_sub(start.audit_log))
}

/// Seals all entries that are committed now, and returns the latest seal; `None` if there is nothing to seal. Waits up
/// to ten seconds for transactions in progress, because nothing after them can be sealed before they end. If entries
/// remain unsealed, returns no seal, and a text that says why and what to do.
pub(crate) fn seal_all(
    store: &dyn Store,
    now: Timestamp,
) -> Result<(Option<Seal>, Option<String>), StoreError> {
    let end = store.read_snapshot(|reads| reads.ledger_end())?;
    for _ in 0..ATTEMPTS_MAX {
        if let SealOutcome::Complete(seal) = seal_until(store, end, now, &mut new_pacer())? {
            return Ok((seal, None));
        }
        sleep(RETRY_INTERVAL);
    }
    store.read_snapshot(describe_seal_delay).map(|delay| (None, Some(delay)))
}

/// Seals like [`seal_all`], but waits neither for a distribution that is not finished nor longer than ten seconds. If
/// journal entries remain unsealed, the second value says why.
pub(crate) fn seal_available(
    store: &dyn Store,
    now: Timestamp,
) -> Result<(Option<Seal>, Option<String>), StoreError> {
    let end = store.read_snapshot(|reads| reads.ledger_end())?;
    let mut latest = store.read_snapshot(|reads| reads.last_seal())?;
    for _ in 0..ATTEMPTS_MAX {
        if let SealOutcome::Complete(seal) = seal_until(store, end, now, &mut new_pacer())? {
            return Ok((seal, None));
        }
        let previous = latest;
        let unfinished = store.read_snapshot(describe_unfinished)?;
        latest = store.read_snapshot(|reads| reads.last_seal())?;
        if unfinished.is_some() && latest == previous {
            return Ok((latest, unfinished));
        }
        sleep(RETRY_INTERVAL);
    }
    Ok((latest, Some("a transaction that began earlier is still in progress".to_owned())))
}

/// Describes why entries cannot be sealed yet, and what to do.
pub(crate) fn describe_seal_delay(reads: &mut dyn ReadTx) -> Result<String, StoreError> {
    Ok(match describe_unfinished(reads)? {
        Some(unfinished) => format!(
            "{unfinished}; entries after it cannot be sealed until it is finished. Try again. If it stays unfinished, see \
             the log of `guerdon serve` for the reason and docs/runbook.md (A distribution is not finished) for the fix"
        ),
        None => "a transaction that began earlier is still in progress: try again. If it stays open, see docs/runbook.md \
                 (The event feed is delayed)"
            .to_owned(),
    })
}

/// Describes the oldest unfinished distribution by its id and company; `None` without one.
fn describe_unfinished(reads: &mut dyn ReadTx) -> Result<Option<String>, StoreError> {
    let unfinished = reads.unfinished_distributions()?;
    Ok(unfinished.distributions.first().map(|(id, owner)| match owner {
        Some((company, _provider)) => format!("distribution {id} of company {company} is not finished"),
        None => format!("distribution {id} is not finished"),
    }))
}

/// A pacer for seals of 200 to 20,000 journal entries. A seal is written together with the statistics of the companies
/// that its entries concern.
pub(crate) fn new_pacer() -> AdaptivePacer {
    AdaptivePacer::new(2_000, 200..=20_000)
}

#[cfg(test)]
mod tests {
    use guerdon_domain::audit_log::Action;
    use guerdon_domain::journal::Requester;
    use guerdon_domain::ports::{Context, Tx};
    use guerdon_webhook_dispatcher::Bodies;

    use super::*;
    use crate::platform::SystemIds;
    use crate::unreliable_store::UnreliableStore;

    #[test]
    fn few_entries_wait_until_the_latest_seal_is_old() {
        let (store, _commands) = UnreliableStore::create();
        let requester = &Requester::OPERATOR;
        let context = Context { clock: &SystemClock, ids: &SystemIds, bodies: &Bodies, requester };
        let add_entries = |count: i64| {
            let entries = (0..count).map(|_| context.new_audit_entry(Action::ProviderChanged));
            let entries: Vec<_> = entries.collect();
            let add_all = |tx: &mut dyn Tx| entries.iter().try_for_each(|entry| tx.record_audit_entry(entry));
            store.transaction(add_all).unwrap();
        };
        let count_seals = || {
            let latest = store.read_snapshot(|reads| reads.last_seal()).unwrap();
            latest.map_or(0, |seal| seal.sequence)
        };
        let mut task = SealingTask::new(Arc::<UnreliableStore>::clone(&store));
        for (new_entries, seals) in [(1, 1), (1, 1), (POSITIONS_MIN - 2, 1), (1, 2), (1, 2)] {
            add_entries(new_entries);
            task.seal_and_log();
            assert_eq!(count_seals(), seals, "after {new_entries} more");
        }
        let mut after_a_restart = SealingTask::new(Arc::<UnreliableStore>::clone(&store));
        after_a_restart.seal_and_log();
        assert_eq!(count_seals(), 3);
    }
}
