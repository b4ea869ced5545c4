//! The background tasks of a service.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::AtomicI64;
use std::time::{Duration, Instant};

use actix_web::rt::{self, task::JoinHandle};
use actix_web::web;
use anyhow::Context as _;
use guerdon_domain::ports::{Clock, Setting, Store, StoreError, StoreExt};
use guerdon_http_api::{DatabaseHealth, ServiceState};
use tokio::time::{MissedTickBehavior, interval};

use super::ObservedState;
use super::metrics::{
    Metrics, record_maintenance, refresh_certificate_metrics, refresh_ledger_metrics, refresh_outbox_metrics,
    refresh_process_metrics,
};
use super::single_sign_on;
use super::upkeep::{self, Upkeep};
use super::upkeep_metrics::refresh_upkeep_metrics;
use crate::maintenance::sealing::SealingTask;
use crate::platform::SystemClock;
use crate::tls::ReloadingCertificate;

/// How often the database and maintenance mode are checked. A change of either takes effect within a second.
const HEALTH_CHECK_INTERVAL: Duration = Duration::from_millis(250);
const TEST_WRITE_INTERVAL: Duration = Duration::from_secs(1);
/// The size of the test write. It exceeds what most transactions write.
const TEST_WRITE_BYTES: usize = 256 << 10;
const CERTIFICATE_RELOAD_INTERVAL: Duration = Duration::from_secs(5);
const OUTBOX_METRICS_INTERVAL: Duration = Duration::from_secs(2);
/// How often to check whether the certificate expires soon. If it does, a self-signed certificate is renewed, and a
/// certificate that was not renewed causes a warning.
const CERTIFICATE_RENEWAL_INTERVAL: Duration = Duration::from_secs(12 * 3_600);
/// Warnings begin this long before the certificate expires.
const EXPIRY_WARNING_PERIOD: Duration = Duration::from_secs(30 * 86_400);
const METRICS_UPKEEP_INTERVAL: Duration = Duration::from_secs(2);
const LEDGER_METRICS_INTERVAL: Duration = Duration::from_secs(60);
/// After each run, monitoring queries pause for 100 times their duration, so they use at most 1 % of one connection.
const PAUSE_FACTOR: u32 = 100;
const SEAL_INTERVAL: Duration = Duration::from_secs(5);

/// Checks whether the database is available, and reads whether maintenance mode is on.
pub(super) struct HealthCheck {
    /// A store that nothing else uses.
    store: Arc<dyn Store>,
    service_state: Arc<ServiceState>,
    database_health: Arc<DatabaseHealth>,
}

/// Starts the tasks that monitor and maintain the database and the certificate. Aborting a handle prevents further
/// runs; a run in progress continues.
pub(super) fn spawn_tasks(
    store: Arc<dyn Store>,
    mut upkeep: Upkeep,
    health_check: HealthCheck,
    certificate: Option<Arc<ReloadingCertificate>>,
    metrics: Metrics,
    unbalanced_companies: Arc<AtomicI64>,
) -> Vec<JoinHandle<()>> {
    let database_health = Arc::clone(&health_check.database_health);
    let (mut has_failed, mut was_hanging) = (false, false);
    let mut tasks = vec![
        rt::spawn(repeat_every("health check", HEALTH_CHECK_INTERVAL, move || {
            let health = health_check.check_database();
            match &health {
                Err(cause) if !has_failed => log::error!(cause:%; "the database is not available"),
                Ok(()) if has_failed => log::info!("the database is available again"),
                _ => {}
            }
            has_failed = health.is_err();
            was_hanging = health_check.log_hanging_commits(was_hanging);
        })),
        rt::spawn(repeat_every("test commit", HEALTH_CHECK_INTERVAL, {
            let (store, database_health) = (Arc::clone(&store), Arc::clone(&database_health));
            move || test_commit(store.as_ref(), &database_health)
        })),
        rt::spawn(repeat_every("test write", TEST_WRITE_INTERVAL, {
            let store = Arc::clone(&store);
            let mut has_failed = false;
            move || has_failed = test_write(store.as_ref(), &database_health, has_failed)
        })),
        rt::spawn(repeat_every("ledger metrics", LEDGER_METRICS_INTERVAL, {
            let store = Arc::clone(&store);
            with_pauses(move || {
                refresh_ledger_metrics(store.as_ref(), &unbalanced_companies);
                refresh_upkeep_metrics(store.as_ref());
            })
        })),
        rt::spawn(repeat_every("outbox metrics", OUTBOX_METRICS_INTERVAL, {
            let store = Arc::clone(&store);
            with_pauses(move || refresh_outbox_metrics(store.as_ref()))
        })),
        rt::spawn(repeat_every("process metrics", METRICS_UPKEEP_INTERVAL, move || {
            refresh_process_metrics();
            metrics.run_upkeep();
        })),
        rt::spawn(repeat_every("sealing", SEAL_INTERVAL, {
            let mut sealing = SealingTask::new(Arc::clone(&store), Arc::new(SystemClock));
            move || sealing.seal_and_log()
        })),
        rt::spawn(repeat_every("single sign-on certificates", single_sign_on::CHECK_INTERVAL, {
            let store = Arc::clone(&store);
            move || single_sign_on::check_certificates(store.as_ref())
        })),
        rt::spawn(repeat_every("upkeep", upkeep::CHECK_INTERVAL, move || upkeep.run_due_tasks())),
    ];
    if let Some(certificate) = certificate {
        let renewed_certificate = Arc::clone(&certificate);
        tasks.push(rt::spawn(repeat_every("certificate reload", CERTIFICATE_RELOAD_INTERVAL, move || {
            certificate.reload_if_changed();
            refresh_certificate_metrics(certificate.as_ref());
        })));
        tasks.push(rt::spawn(repeat_every("certificate renewal", CERTIFICATE_RENEWAL_INTERVAL, move || {
            renewed_certificate.renew_if_needed();
            renewed_certificate.reload_if_changed();
            warn_of_certificate_expiry(renewed_certificate.as_ref());
        })));
    }
    tasks
}

impl HealthCheck {
    pub(super) fn new(store: Arc<dyn Store>, observed: &ObservedState) -> Self {
        let ObservedState { service_state, database_health, .. } = observed;
        Self { store, service_state: Arc::clone(service_state), database_health: Arc::clone(database_health) }
    }

    /// Checks the database before the service opens its listeners. Logs if maintenance mode is on.
    pub(super) fn check_at_start(&self) -> anyhow::Result<()> {
        self.check_database().context("the database is not available")?;
        if self.service_state.is_in_maintenance() {
            log::warn!("maintenance is on: the API responds with 503 until `guerdon maintenance off`");
        }
        Ok(())
    }

    /// Logs when commits begin to hang and when they return again. Returns whether they hang.
    fn log_hanging_commits(&self, was_hanging: bool) -> bool {
        let is_hanging = self.database_health.are_commits_hanging();
        match (was_hanging, is_hanging) {
            (false, true) => {
                log::error!("commits do not return: is a synchronous standby required, and none connected?")
            }
            (true, false) => log::info!("commits return again"),
            _ => {}
        }
        is_hanging
    }

    fn check_database(&self) -> Result<(), StoreError> {
        let maintenance = self
            .database_health
            .run_health_query(|| self.store.read_snapshot(|reads| reads.get_setting(Setting::Maintenance)))?;
        let is_on = maintenance.as_deref() == Some(Setting::ON);
        self.service_state.set_maintenance(is_on);
        record_maintenance(is_on);
        Ok(())
    }
}

/// Tries a write if requests have failed because of the database, so that readiness reports when the disk becomes full
/// and when it has space again. Logs each change and returns whether writes fail. This is separate from the check of
/// the database, which must not wait for a lock.
fn test_write(store: &dyn Store, database_health: &DatabaseHealth, has_failed: bool) -> bool {
    let now = SystemClock.now().unix_micros().to_string();
    let set = |value: &str| store.transaction(|tx| tx.set_setting(Setting::LastTestWrite, value));
    // On a full disk, a short value could still fit into a part of the write-ahead log that is reused.
    let write = || set(&format!("{now} {}", "x".repeat(TEST_WRITE_BYTES))).and_then(|()| set(&now));
    match database_health.try_test_write(write) {
        Some(Err(cause)) if !has_failed => log::error!(cause:%; "the database rejects writes"),
        Some(Ok(())) if has_failed => log::info!("the database accepts writes again"),
        _ => {}
    }
    !database_health.accepts_writes()
}

/// Commits a small write if a commit is slow, to learn whether others return.
fn test_commit(store: &dyn Store, database_health: &DatabaseHealth) {
    let now = SystemClock.now().unix_micros().to_string();
    database_health.try_test_commit(|| store.transaction(|tx| tx.set_setting(Setting::LastTestWrite, &now)));
}

/// Repeats blocking work on the blocking threads until the runtime stops. Two runs never overlap. A run that panics is
/// logged under the name `task`, and does not end the repetition.
pub(super) async fn repeat_every(
    task: &'static str,
    period: Duration,
    mut work: impl FnMut() + Send + 'static,
) {
    let mut ticks = interval(period);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        let done = web::block(move || {
            if catch_unwind(AssertUnwindSafe(&mut work)).is_err() {
                log::error!(task; "a background task panicked; it runs again");
            }
            work
        });
        match done.await {
            Ok(again) => work = again,
            Err(_runtime_stops) => return,
        }
    }
}

/// Logs that the certificate expires soon or has expired.
fn warn_of_certificate_expiry(certificate: &ReloadingCertificate) {
    let Some(end) = certificate.expires_at() else { return };
    let remaining = end.saturating_sub(SystemClock.now().to_utc().unix_timestamp());
    let soon = i64::try_from(EXPIRY_WARNING_PERIOD.as_secs()).unwrap_or(i64::MAX);
    if remaining <= 0 {
        log::warn!(
            "the TLS certificate of the provider API has expired: clients refuse to connect until it is replaced (http.tls)"
        );
    } else if remaining < soon {
        log::warn!(
            days = remaining / 86_400;
            "the TLS certificate of the provider API expires soon: replace it (http.tls)"
        );
    }
}

/// Skips runs of a monitoring query until `PAUSE_FACTOR` times the duration of its last run has passed.
fn with_pauses(mut query: impl FnMut() + Send + 'static) -> impl FnMut() + Send + 'static {
    let mut next_run_at = Instant::now();
    move || {
        let start = Instant::now();
        if start >= next_run_at {
            query();
            next_run_at = Instant::now() + start.elapsed() * PAUSE_FACTOR;
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::mpsc::unbounded_channel;

    use super::*;

    #[actix_web::test]
    async fn a_task_that_panicked_runs_again() {
        let (started, mut runs) = unbounded_channel();
        let mut is_first_run = true;
        let task = rt::spawn(repeat_every("test", Duration::from_millis(1), move || {
            started.send(()).unwrap();
            assert!(!std::mem::take(&mut is_first_run), "the first run panics");
        }));
        assert_eq!((runs.recv().await, runs.recv().await), (Some(()), Some(())));
        task.abort();
    }
}
