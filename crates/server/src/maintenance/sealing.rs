//! Seals journal and audit entries, in the background and for `guerdon seal`.

use std::sync::Arc;
use std::thread::sleep; // tidy: waits for transactions of other processes
use std::time::{Duration, Instant};

use data_encoding::HEXLOWER;
use guerdon_domain::ports::{Clock, ReadTx, Seal, Store, StoreError, StoreExt, Timestamp};
use guerdon_domain::sealing::{SealOutcome, seal_until};

use super::pacer::AdaptivePacer;

const ATTEMPTS_MAX: u32 = 200;
const RETRY_INTERVAL: Duration = Duration::from_millis(50);
/// At least this many new entries are sealed at the next opportunity. Fewer wait until the latest seal is
/// [`SEAL_AGE_MIN`] old, because each seal is verified every day for as long as the ledger exists.
const ENTRIES_MIN: i64 = 1_000;
const SEAL_AGE_MIN: Duration = Duration::from_secs(60);
/// How often the head is logged. A copy of the log can later prove that the ledger is unchanged up to the logged head.
const HEAD_LOG_INTERVAL: Duration = Duration::from_secs(24 * 60 * 60);

/// The background job that seals journal and audit entries.
pub(crate) struct SealingTask {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    pacer: AdaptivePacer,
    logged_at: Option<Instant>,
    /// Whether the previous run failed, so that an outage is logged only once, however long it lasts (a log throttle
    /// would repeat it at intervals).
    has_failed: bool,
}

impl SealingTask {
    pub(crate) fn new(store: Arc<dyn Store>, clock: Arc<dyn Clock>) -> Self {
        Self { store, clock, pacer: new_pacer(), logged_at: None, has_failed: false }
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
        let now = self.clock.now();
        let is_recent = latest.is_some_and(|seal| {
            // A seal from the future was written before the clock was set back.
            (seal.created_at..seal.created_at + SEAL_AGE_MIN).contains(&now)
        });
        if is_recent && !store.read_snapshot(|reads| has_many_unsealed_entries(reads, now))? {
            return Ok(());
        }
        seal_until(store, end, now, &mut self.pacer)?;
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

/// Whether at least [`ENTRIES_MIN`] journal entries, or as many audit entries, can be sealed.
fn has_many_unsealed_entries(reads: &mut dyn ReadTx, now: Timestamp) -> Result<bool, StoreError> {
    let next = reads.next_seal(now, ENTRIES_MIN)?;
    Ok(next.is_some_and(|seal| seal.journal_entries.count.max(seal.audit_entries.count) >= ENTRIES_MIN))
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
    use guerdon_persistence::testing::create_databases;
    use guerdon_persistence::{Access, DatabaseUrl, open_with_notifiers};
    use guerdon_webhook_dispatcher::Bodies;

    use super::*;
    use crate::platform::SystemIds;
    use crate::test_clock::TestClock;

    const SEAL_TIMEOUT: Duration = Duration::from_secs(30);

    #[test]
    fn few_entries_wait_until_the_latest_seal_is_old() {
        for database in create_databases() {
            let url = DatabaseUrl::parse(&database.url).unwrap();
            let store = open_with_notifiers(&url, Access::Command, Default::default()).unwrap().background;
            let clock = Arc::new(TestClock::default());
            clock.set(Timestamp::from_unix_micros(1_800_000_000_000_000).unwrap());
            let new_task = || SealingTask::new(Arc::clone(&store), Arc::<TestClock>::clone(&clock));
            let mut task = new_task();
            let add_entries = |count: i64| {
                let requester = &Requester::OPERATOR;
                let context = Context { clock: &*clock, ids: &SystemIds, bodies: &Bodies, requester };
                let entries = (0..count).map(|_| context.new_audit_entry(Action::ProviderChanged));
                let entries: Vec<_> = entries.collect();
                let add_all =
                    |tx: &mut dyn Tx| entries.iter().try_for_each(|entry| tx.record_audit_entry(entry));
                store.transaction(add_all).unwrap();
            };
            let count_seals = || {
                let latest = store.read_snapshot(|reads| reads.last_seal()).unwrap();
                latest.map_or(0, |seal| seal.sequence)
            };
            // On PostgreSQL, a transaction of another test that is just beginning can delay a seal.
            let assert_sealed = |task: &mut SealingTask, why: &str| {
                let (before, start) = (count_seals(), Instant::now());
                while count_seals() == before && start.elapsed() < SEAL_TIMEOUT {
                    task.seal_and_log();
                }
                assert_eq!(count_seals(), before + 1, "{why}");
            };
            let assert_not_sealed = |task: &mut SealingTask| {
                let before = count_seals();
                task.seal_and_log();
                assert_eq!(count_seals(), before);
            };
            add_entries(1);
            assert_sealed(&mut task, "the first seal");
            for few in [1, ENTRIES_MIN - 2] {
                add_entries(few);
                assert_not_sealed(&mut task);
            }
            add_entries(1);
            assert_sealed(&mut new_task(), "together many, for another instance as well");
            add_entries(1);
            assert_not_sealed(&mut task);
            clock.set(clock.now() + SEAL_AGE_MIN);
            assert_sealed(&mut task, "the latest seal is old");
            add_entries(1);
            assert_not_sealed(&mut task);
            clock.set(clock.now() - SEAL_AGE_MIN * 2);
            assert_sealed(&mut task, "the clock was set back");
        }
    }
}
