//! The background tasks of a service.

use std::sync::Arc;
use std::sync::atomic::AtomicI64;
use std::time::{Duration, Instant};

use actix_web::rt::{self, task::JoinHandle};
use actix_web::web;
use anyhow::Context as _;
use guerdon_domain::journal::{Actor, Origin};
use guerdon_domain::ports::{Clock, Context, Setting, Store, StoreError, StoreExt};
use guerdon_http_api::{Gate, Pulse};
use guerdon_webhook_dispatcher::Bodies;
use tokio::time::{MissedTickBehavior, interval};

use super::metrics::{
    Metrics, look_at_certificate, look_at_ledger, look_at_outbox, look_at_process, tell_maintenance,
};
use super::single_sign_on;
use crate::maintenance::retention;
use crate::maintenance::sealing::Sealing;
use crate::platform::{SystemClock, SystemIds};
use crate::settings::Retention;
use crate::tls::Reloading;

/// How often the database and maintenance mode are checked; both take effect within a second.
const HEALTH_CHECK_INTERVAL: Duration = Duration::from_millis(250);
const TRY_WRITE_EVERY: Duration = Duration::from_secs(1);
/// The size of the test write, more than most transactions write.
const TEST_WRITE_BYTES: usize = 256 << 10;
const CERTIFICATE_EVERY: Duration = Duration::from_secs(5);
const LOOK_AT_OUTBOX_EVERY: Duration = Duration::from_secs(2);
/// How often a certificate that expires soon is renewed, and its expiry is logged.
const RENEW_EVERY: Duration = Duration::from_secs(12 * 3_600);
/// How long before the certificate expires warnings begin.
const ENDS_SOON: Duration = Duration::from_secs(30 * 86_400);
const KEEP_UP_EVERY: Duration = Duration::from_secs(2);
const LOOK_AT_LEDGER_EVERY: Duration = Duration::from_secs(60);
/// After each run, monitoring queries pause for 100 times their duration: they use at most 1 % of one connection.
const PAUSE_FACTOR: u32 = 100;
const SEAL_EVERY: Duration = Duration::from_secs(5);
const PRUNE_EVERY: Duration = Duration::from_secs(600);
const PRUNE_ALL_EVERY: Duration = Duration::from_secs(24 * 3_600);

/// Starts all background tasks. Aborting the handles ends them.
pub(super) fn spawn_tasks(
    store: Arc<dyn Store>,
    retention: Retention,
    gate: &Arc<Gate>,
    pulse: Arc<Pulse>,
    certificate: Option<Arc<Reloading>>,
    metrics: Metrics,
    unbalanced: Arc<AtomicI64>,
) -> Vec<JoinHandle<()>> {
    let gate = Arc::clone(gate);
    let (beating, beaten) = (Arc::clone(&store), Arc::clone(&pulse));
    let mut was_well = true;
    let mut tasks = vec![
        rt::spawn(repeat_every(HEALTH_CHECK_INTERVAL, move || {
            let beat = check_database(beating.as_ref(), &gate, &beaten);
            match &beat {
                Err(cause) if was_well => log::error!("the database does not answer: {cause}"),
                Ok(()) if !was_well => log::info!("the database answers again"),
                _ => {}
            }
            was_well = beat.is_ok();
        })),
        rt::spawn(repeat_every(TRY_WRITE_EVERY, {
            let (store, pulse) = (Arc::clone(&store), Arc::clone(&pulse));
            let mut did_fail = false;
            move || did_fail = try_write(store.as_ref(), &pulse, did_fail)
        })),
        rt::spawn(repeat_every(LOOK_AT_LEDGER_EVERY, {
            let store = Arc::clone(&store);
            with_pauses(move || look_at_ledger(store.as_ref(), &unbalanced))
        })),
        rt::spawn(repeat_every(LOOK_AT_OUTBOX_EVERY, {
            let store = Arc::clone(&store);
            with_pauses(move || look_at_outbox(store.as_ref()))
        })),
        rt::spawn(repeat_every(KEEP_UP_EVERY, move || {
            look_at_process();
            metrics.keep_up();
        })),
        rt::spawn(repeat_every(SEAL_EVERY, {
            let mut sealing = Sealing::new(Arc::clone(&store));
            move || sealing.seal()
        })),
        rt::spawn(repeat_every(single_sign_on::EVERY, {
            let store = Arc::clone(&store);
            move || single_sign_on::look(store.as_ref())
        })),
        rt::spawn(repeat_every(PRUNE_EVERY, {
            let mut pruning = Pruning { store, retention, all_at: None };
            move || pruning.run()
        })),
    ];
    if let Some(certificate) = certificate {
        let renewed = Arc::clone(&certificate);
        tasks.push(rt::spawn(repeat_every(CERTIFICATE_EVERY, move || {
            certificate.refresh();
            look_at_certificate(certificate.as_ref());
        })));
        tasks.push(rt::spawn(repeat_every(RENEW_EVERY, move || {
            renewed.renew();
            warn_of_certificate_end(renewed.as_ref());
        })));
    }
    tasks
}

/// Checks the database before the service opens, and logs that maintenance mode is on.
pub(super) fn check_at_start(store: &dyn Store, gate: &Gate, pulse: &Pulse) -> anyhow::Result<()> {
    check_database(store, gate, pulse).context("the database does not answer")?;
    if gate.maintenance() {
        log::warn!("maintenance is on: the API responds with 503 until `guerdon maintenance off`");
    }
    Ok(())
}

/// Checks whether the database is available, and reads whether maintenance mode is on.
fn check_database(store: &dyn Store, gate: &Gate, pulse: &Pulse) -> Result<(), StoreError> {
    let maintenance = pulse
        .look(|| store.snapshot(|reads| -> Result<_, StoreError> { reads.setting(Setting::Maintenance) }))?;
    let is_on = maintenance.as_deref() == Some(Setting::ON);
    gate.set_maintenance(is_on);
    tell_maintenance(is_on);
    Ok(())
}

/// Tries a write if requests have failed because of the database, so that readiness reports a full disk, and when it is
/// resolved. Logs each change and returns whether writes fail. Separate from the check of the database, which must not
/// wait for a lock.
fn try_write(store: &dyn Store, pulse: &Pulse, did_fail: bool) -> bool {
    let now = SystemClock.now().unix_micros().to_string();
    let set = |value: &str| {
        store.transaction(|tx| -> Result<_, StoreError> { tx.set_setting(Setting::WriteTried, value) })
    };
    // A short value could still fit on a full disk, in a part of the write-ahead log that is reused.
    let write = || set(&format!("{now} {}", "x".repeat(TEST_WRITE_BYTES))).and_then(|()| set(&now));
    match pulse.try_write(write) {
        Some(Err(cause)) if !did_fail => log::error!("the database rejects writes: {cause}"),
        Some(Ok(())) if did_fail => log::info!("the database accepts writes again"),
        _ => {}
    }
    !pulse.takes_writes()
}

/// Runs blocking work repeatedly on the blocking threads, never twice concurrently.
pub(super) async fn repeat_every(period: Duration, mut work: impl FnMut() + Send + 'static) {
    let mut ticks = interval(period);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        let done = web::block(move || {
            work();
            work
        });
        match done.await {
            Ok(again) => work = again,
            Err(_cancelled) => return log::error!("a background task was cancelled"),
        }
    }
}

/// Logs that the certificate expires soon or has expired.
fn warn_of_certificate_end(certificate: &Reloading) {
    let Some(end) = certificate.ends_at() else { return };
    let left = end.saturating_sub(SystemClock.now().utc().unix_timestamp());
    let soon = i64::try_from(ENDS_SOON.as_secs()).unwrap_or(i64::MAX);
    if left <= 0 {
        log::warn!("the certificate has expired: clients will not connect");
    } else if left < soon {
        log::warn!("the certificate expires in {} days", left / 86_400);
    }
}

/// Skips runs of a monitoring query until it has paused for `PAUSE_FACTOR` times its duration.
fn with_pauses(mut look: impl FnMut() + Send + 'static) -> impl FnMut() + Send + 'static {
    let mut rested = Instant::now();
    move || {
        let start = Instant::now();
        if start >= rested {
            look();
            rested = Instant::now() + start.elapsed() * PAUSE_FACTOR;
        }
    }
}

/// Deletes expired idempotency records on each run, and everything past its retention once a day.
struct Pruning {
    store: Arc<dyn Store>,
    retention: Retention,
    all_at: Option<Instant>,
}

impl Pruning {
    fn run(&mut self) {
        let store = self.store.as_ref();
        if self.all_at.is_some_and(|at| at.elapsed() < PRUNE_ALL_EVERY) {
            if let Err(cause) = retention::prune_expired_records(store, SystemClock.now()) {
                log::warn!("cannot delete expired idempotency records: {cause}");
            }
            return;
        }
        let origin = Origin { actor: Actor::Operator, reference: Some("retention"), key: None };
        let context = Context { clock: &SystemClock, ids: &SystemIds, bodies: &Bodies, origin };
        match retention::prune(store, &self.retention, &context) {
            Ok((pruned, longest_step)) => {
                self.all_at = Some(Instant::now());
                if !pruned.is_empty() {
                    let (events, mails) = (pruned.events, pruned.mails);
                    log::info!(
                        "retention: deleted {events} delivered events and {mails} mails; the longest step took {} ms",
                        longest_step.as_millis()
                    );
                }
            }
            Err(cause) => log::warn!("cannot delete records past their retention: {cause}"),
        }
    }
}
