//! Verifies the ledger once a day within `serve`.
//!
//! The setting `verify.daily_at` names a time of day. The first process that notices that this time has passed claims
//! the day's verification in the database, so that neither another process nor the same process after a restart runs it
//! again. A verification uses one thread and one connection, reads from short snapshots, and pauses between two
//! snapshots for as long as it has worked, at most 0.2 s.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread::sleep; // tidy: lets requests run between two snapshots
use std::time::{Duration, Instant};

use guerdon_domain::audit::{AuditPacer, AuditReport};
use guerdon_domain::ports::{Clock, Setting, Store, StoreError, StoreExt as _, Timestamp};
use time::{Duration as Span, Time, UtcDateTime};

use super::verification::{VerificationOptions, verify_database};
use super::verification_record::VerificationRecord;
use crate::keys::Keys;
use crate::settings::Webhooks;

/// How long the verification reads from one snapshot, if no statement takes longer.
const SNAPSHOT_DURATION: Duration = Duration::from_millis(200);
/// The time limit of a statement on PostgreSQL.
const STATEMENT_DURATION_MAX: Duration = Duration::from_secs(120);
/// The maximum duration of a pause.
const PAUSE_MAX: Duration = Duration::from_millis(200);
/// How many violations are logged. `guerdon verify` prints up to a hundred per invariant.
const LOGGED_VIOLATIONS_MAX: usize = 10;

/// The daily verification of a service.
pub(crate) struct DailyVerification {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) keys: Arc<Keys>,
    pub(crate) webhooks: Webhooks,
    /// The time of day in UTC.
    pub(crate) daily_at: Time,
    /// Returns whether the service is stopping.
    pub(crate) is_stopping: Box<dyn Fn() -> bool + Send + Sync>,
}

/// The claim of a process to run the verification that is scheduled for one date and time: the stored value, and the
/// value that it replaced.
struct Claim {
    previous: Option<String>,
    current: String,
}

impl DailyVerification {
    /// Verifies the ledger, and logs and stores the result, unless a process has already started the latest scheduled
    /// verification. Must be called about once a minute. Calls `between_snapshots` before each snapshot.
    pub(crate) fn run_if_due(&self, between_snapshots: &mut (dyn FnMut() + Send)) {
        match self.claim_if_due() {
            Ok(Some(claim)) => self.verify_and_log(&claim, between_snapshots),
            Ok(None) => {}
            // The health check logs an unavailable database.
            Err(StoreError::Unavailable(_) | StoreError::OutcomeUnknown(_)) => {}
            Err(cause) => log::warn!(cause:%; "cannot start the daily verification"),
        }
    }

    fn claim_if_due(&self) -> Result<Option<Claim>, StoreError> {
        let scheduled_at = latest_occurrence(self.clock.now(), self.daily_at);
        let previous = self.store.read_snapshot(|reads| reads.get_setting(Setting::DailyVerification))?;
        let claimed_at =
            previous.as_deref().and_then(|micros| Timestamp::from_unix_micros(micros.parse().ok()?));
        if !is_due(scheduled_at, claimed_at) {
            return Ok(None);
        }
        let claim = Claim { previous, current: scheduled_at.unix_micros().to_string() };
        let is_first = self.store.transaction(|tx| {
            tx.replace_setting(Setting::DailyVerification, claim.previous.as_deref(), &claim.current)
        })?;
        Ok(is_first.then_some(claim))
    }

    fn verify_and_log(&self, claim: &Claim, between_snapshots: &mut (dyn FnMut() + Send)) {
        log::info!("verifying the ledger");
        let started = Instant::now();
        let pacer = PausePacer {
            is_stopping: self.is_stopping.as_ref(),
            pauses: Mutex::new(Pauses { resumed_at: Instant::now(), between_snapshots }),
        };
        let options = VerificationOptions {
            keys: Some(&self.keys),
            statement_duration_max: Some(STATEMENT_DURATION_MAX),
            pacer: &pacer,
            ..VerificationOptions::default()
        };
        let verified = verify_database(self.store.as_ref(), &self.webhooks, self.clock.now(), &options);
        match verified {
            Ok(report) => {
                let record = VerificationRecord::new(
                    self.clock.now(),
                    started.elapsed(),
                    report.violations.len(),
                    report.checked,
                );
                record.store(self.store.as_ref());
                log_report(&report, &record);
            }
            Err(_ended) if (self.is_stopping)() => self.release_claim(claim),
            Err(cause) => {
                log::warn!(
                    cause:%;
                    "the daily verification failed and runs again at the next verify.daily_at"
                );
            }
        }
    }

    /// Gives up the claim, so that another process, or this one after a restart, verifies instead.
    fn release_claim(&self, claim: &Claim) {
        let previous = claim.previous.as_deref().unwrap_or("0");
        let released = self
            .store
            .transaction(|tx| tx.replace_setting(Setting::DailyVerification, Some(&claim.current), previous));
        match released {
            Ok(_) => {
                log::info!(
                    "the daily verification was interrupted; another instance runs it, or this one after its next start"
                )
            }
            Err(cause) => {
                log::warn!(
                    cause:%;
                    "the daily verification was interrupted and runs again at the next verify.daily_at"
                )
            }
        }
    }
}

/// The latest time, at `now` or before, at which the time of day was `daily_at`.
fn latest_occurrence(now: Timestamp, daily_at: Time) -> Timestamp {
    let now = now.to_utc();
    let today = UtcDateTime::new(now.date(), daily_at);
    let latest = if today > now { today.saturating_sub(Span::DAY) } else { today };
    Timestamp::new(latest.into())
}

/// Returns whether the verification scheduled at `scheduled_at` has not been started yet. `claimed_at` is the scheduled
/// time of the latest verification that a process has started. It is later than `scheduled_at` if the clock was set
/// back, or if the clock of another process is ahead. If it is more than a day later, it was stored while a clock was
/// wrong, and is ignored.
fn is_due(scheduled_at: Timestamp, claimed_at: Option<Timestamp>) -> bool {
    claimed_at.is_none_or(|claimed_at| {
        claimed_at < scheduled_at || claimed_at.unix_micros() > (scheduled_at + Span::DAY).unix_micros()
    })
}

fn log_report(report: &AuditReport, record: &VerificationRecord) {
    let duration_ms = u64::try_from(record.duration().as_millis()).unwrap_or(u64::MAX);
    let checked = record.checked.to_text();
    let count = report.violations.len();
    if count == 0 {
        return log::info!(duration_ms, checked = checked.as_str(); "verified the ledger: every invariant holds");
    }
    for violation in report.violations.iter().take(LOGGED_VIOLATIONS_MAX) {
        log::error!(invariant = violation.invariant, detail = violation.detail.as_str(); "the ledger violates an invariant");
    }
    log::error!(
        duration_ms, violations = count;
        "the ledger violates its invariants: turn on maintenance mode and follow docs/runbook.md, \
         \"The ledger does not add up\""
    );
}

/// Pauses an audit for as long as it has worked, at most for [`PAUSE_MAX`], and ends it if the service stops.
struct PausePacer<'a> {
    is_stopping: &'a (dyn Fn() -> bool + Send + Sync),
    pauses: Mutex<Pauses<'a>>,
}

struct Pauses<'a> {
    resumed_at: Instant,
    between_snapshots: &'a mut (dyn FnMut() + Send),
}

impl AuditPacer for PausePacer<'_> {
    fn pause(&self) -> Result<(), StoreError> {
        self.ensure_running()?;
        let mut pauses = self.pauses.lock().unwrap_or_else(PoisonError::into_inner);
        sleep(pauses.resumed_at.elapsed().min(PAUSE_MAX));
        (pauses.between_snapshots)();
        pauses.resumed_at = Instant::now();
        Ok(())
    }

    fn is_snapshot_too_old(&self, age: Duration) -> bool {
        age >= SNAPSHOT_DURATION
    }

    fn ensure_running(&self) -> Result<(), StoreError> {
        if (self.is_stopping)() { Err(StoreError::DeadlineExceeded) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests;
