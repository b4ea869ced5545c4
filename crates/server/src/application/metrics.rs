//! The metrics, as Prometheus text on the operator's listener.
//!
//! Code counts through the `metrics` facade, under names that begin with `guerdon_`. This module describes each name,
//! and queries the database and the system for gauges that no other code sets.

use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use guerdon_domain::ports::{Clock, ProviderHour, Store, StoreError, StoreExt};
use guerdon_domain::values::ProviderId;
use guerdon_mailer::Observer as MailObserver;
use guerdon_webhook_dispatcher::{AttemptResult, Observer as EventObserver};
use metrics::{Unit, counter, describe_counter, describe_gauge, describe_histogram, gauge, histogram};
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};

use crate::platform::build_info::{COMMIT, VERSION};
use crate::platform::{SystemClock, descriptors};
use crate::tls::Reloading;

const UNFINISHED: &str = "guerdon_distributions_unfinished";
const IN_TRANSIT: &str = "guerdon_points_in_transit";
const PENDING: &str = "guerdon_outbox_pending_events";
const OLDEST: &str = "guerdon_outbox_oldest_event_age_seconds";
const FEED_HELD: &str = "guerdon_feed_held_seconds";
const MAILS_WAITING: &str = "guerdon_mails_waiting";
const MAILS_GIVEN_UP: &str = "guerdon_mails_given_up";
pub(super) const SAML_ENDING: &str = "guerdon_saml_certificates_ending";
const BUILD: &str = "guerdon_build_info";
const MAINTENANCE: &str = "guerdon_maintenance";
const MEMORY: &str = "process_resident_memory_bytes";
const DESCRIPTORS: &str = "process_open_fds";
const CERTIFICATE: &str = "guerdon_certificate_expires_timestamp_seconds";
const UNBALANCED: &str = "guerdon_ledger_unbalanced_companies";
const ATTEMPTS: &str = "guerdon_webhook_attempts_total";
const ATTEMPT_TIME: &str = "guerdon_webhook_attempt_duration_seconds";
const IN_FLIGHT: &str = "guerdon_webhook_attempts_in_flight";
const EXHAUSTED: &str = "guerdon_webhook_events_exhausted_total";
const MAILS: &str = "guerdon_mail_attempts_total";
/// Histogram buckets in seconds: from the time of a read to longer than clients wait.
const BUCKETS: [f64; 14] =
    [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 15.0];

/// Everything counted so far.
#[derive(Clone)]
pub(super) struct Metrics(PrometheusHandle);

impl Metrics {
    /// Installs the recorder. Must be called once per process.
    pub(super) fn install() -> anyhow::Result<Self> {
        static HANDLE: OnceLock<PrometheusHandle> = OnceLock::new();
        if let Some(handle) = HANDLE.get() {
            return Ok(Self(handle.clone()));
        }
        let recorder = PrometheusBuilder::new().set_buckets(&BUCKETS)?.build_recorder();
        let handle = HANDLE.get_or_init(|| recorder.handle()).clone();
        if metrics::set_global_recorder(recorder).is_ok() {
            describe();
        }
        Ok(Self(handle))
    }

    /// Renders the metrics as Prometheus text.
    pub(super) fn text(&self) -> String {
        self.0.render()
    }

    /// Aggregates the histograms; to be called every few seconds.
    pub(super) fn keep_up(&self) {
        self.0.run_upkeep();
    }
}

fn describe() {
    describe_histogram!(
        "guerdon_http_request_duration_seconds",
        Unit::Seconds,
        "Responses by method, route and status"
    );
    describe_histogram!(
        "guerdon_database_wait_seconds",
        Unit::Seconds,
        "How long units of work waited for a connection"
    );
    describe_counter!(
        "guerdon_database_wait_timeouts_total",
        "Units of work that timed out waiting for a connection"
    );
    describe_gauge!(PENDING, "Pending events");
    describe_gauge!(OLDEST, Unit::Seconds, "Age of the oldest pending event; 0 if there is none");
    describe_gauge!(UNFINISHED, "Distributions in several steps that are not finished");
    describe_gauge!(
        IN_TRANSIT,
        "Points that unfinished distributions have taken from reserves but not yet paid to users"
    );
    describe_gauge!(
        FEED_HELD,
        Unit::Seconds,
        "Age of the oldest open transaction, which delays the event feed and the seals; 0 if there is none"
    );
    describe_gauge!(MAILS_WAITING, "Pending mails");
    describe_gauge!(MAILS_GIVEN_UP, "Mails whose final attempt failed");
    describe_gauge!(UNBALANCED, "Companies whose accounts do not sum to zero: must always be 0");
    describe_gauge!(MEMORY, Unit::Bytes, "Resident memory of this process");
    describe_gauge!(DESCRIPTORS, "Open descriptors of this process");
    describe_gauge!(CERTIFICATE, Unit::Seconds, "When the certificate in use expires, in seconds since 1970");
    describe_gauge!("guerdon_http_connections", "Connections to the provider API");
    describe_gauge!("guerdon_http_requests_waiting", "Requests waiting for a permit, by kind: read, write");
    describe_gauge!("guerdon_ledger_commands_waiting", "Commands that move points and wait for a batch");
    describe_gauge!(
        "guerdon_http_held_bytes",
        Unit::Bytes,
        "Memory by kind: body (large request bodies), work (large requests and responses, until the client has read them), received (data from connections without valid credentials)"
    );
    describe_counter!(
        "guerdon_http_connections_refused_total",
        "Connections closed immediately by cause: all, address"
    );
    describe_counter!(ATTEMPTS, "Attempts to deliver an event by result: delivered, rejected, failed");
    describe_histogram!(ATTEMPT_TIME, Unit::Seconds, "How long attempts took, by result");
    describe_gauge!(IN_FLIGHT, "Attempts in flight");
    describe_counter!(EXHAUSTED, "Events whose final attempt failed, since the start");
    describe_counter!(MAILS, "Attempts to send a mail by result: sent, failed, given_up");
    describe_gauge!(BUILD, "Always 1; the labels are the version and the commit");
    describe_gauge!(
        SAML_ENDING,
        "Companies whose single sign-on certificate has expired or expires within 30 days"
    );
    describe_gauge!(MAINTENANCE, "1 while maintenance is on, 0 otherwise");
    set_initial_values();
}

/// Sets counters to 0 that would be absent until their first event.
fn set_initial_values() {
    gauge!(BUILD, "version" => VERSION, "commit" => COMMIT).set(1.0);
    gauge!(MAINTENANCE).set(0.0);
    gauge!(PENDING).set(0.0);
    gauge!(OLDEST).set(0.0);
    gauge!(FEED_HELD).set(0.0);
    gauge!(UNFINISHED).set(0.0);
    gauge!(IN_TRANSIT).set(0.0);
    gauge!(UNBALANCED).set(0.0);
    gauge!(IN_FLIGHT).set(0.0);
    for result in [AttemptResult::Delivered, AttemptResult::Rejected, AttemptResult::Failed] {
        counter!(ATTEMPTS, "result" => result.label()).absolute(0);
    }
    counter!(EXHAUSTED).absolute(0);
    for result in ["sent", "failed", "given_up"] {
        counter!(MAILS, "result" => result).absolute(0);
    }
}

/// Measures the outbox and the points in transit.
pub(super) fn look_at_outbox(store: &dyn Store) {
    let found =
        store.snapshot(|reads| -> Result<_, StoreError> { Ok((reads.outbox_depth()?, reads.in_transit()?)) });
    let (depth, in_transit) = match found {
        Ok(found) => found,
        Err(StoreError::Unavailable(_)) => return, // the health check logs an unavailable database
        Err(cause) => return log::warn!("cannot count pending events and mails: {cause}"),
    };
    let age = depth.oldest.map_or(Duration::ZERO, |oldest| {
        Duration::try_from(SystemClock.now() - oldest).unwrap_or_default() // negative if the clock was set back
    });
    let many = |count: i64| u32::try_from(count).unwrap_or(u32::MAX);
    gauge!(PENDING).set(many(depth.pending));
    gauge!(MAILS_WAITING).set(many(depth.mails_waiting));
    gauge!(MAILS_GIVEN_UP).set(many(depth.mails_given_up));
    gauge!(OLDEST).set(age.as_secs_f64());
    gauge!(FEED_HELD).set(depth.feed_held.as_secs_f64());
    gauge!(UNFINISHED).set(u32::try_from(in_transit.distributions.len()).unwrap_or(u32::MAX));
    gauge!(IN_TRANSIT).set(many(in_transit.points));
}

/// Sets the gauge of maintenance mode.
pub(super) fn tell_maintenance(is_on: bool) {
    gauge!(MAINTENANCE).set(if is_on { 1.0 } else { 0.0 });
}

/// Measures when the certificate expires.
pub(super) fn look_at_certificate(certificate: &Reloading) {
    if let Some(end) = certificate.ends_at().and_then(|end| u32::try_from(end).ok()) {
        gauge!(CERTIFICATE).set(end);
    }
}

/// Measures the memory and descriptors of this process.
pub(super) fn look_at_process() {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:")?.trim().strip_suffix(" kB"));
    if let Some(kilobytes) = resident.and_then(|digits| digits.parse::<u32>().ok()) {
        gauge!(MEMORY).set(f64::from(kilobytes) * 1_024.0);
    }
    if let Some(open) = descriptors::count_open().and_then(|count| u32::try_from(count).ok()) {
        gauge!(DESCRIPTORS).set(open);
    }
}

/// Measures whether the accounts of each company sum to zero.
pub(super) fn look_at_ledger(store: &dyn Store, seen: &AtomicI64) {
    let unbalanced = store.snapshot(|reads| -> Result<_, StoreError> { reads.unbalanced_companies() });
    let Ok(unbalanced) = unbalanced else { return };
    seen.store(unbalanced, Ordering::Relaxed);
    gauge!(UNBALANCED).set(u32::try_from(unbalanced).unwrap_or(u32::MAX));
    if unbalanced > 0 {
        log::error!("the accounts of {unbalanced} companies do not sum to zero: run `guerdon verify`");
    }
}

/// Counts attempts to deliver events and mails.
#[derive(Default)]
pub(super) struct Counting {
    /// The counts of each provider since they were last stored.
    deliveries: Mutex<HashMap<ProviderId, ProviderHour>>,
}

impl Counting {
    /// Returns the counts since the last call, and resets them.
    pub(super) fn take(&self) -> HashMap<ProviderId, ProviderHour> {
        std::mem::take(&mut *self.deliveries.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl EventObserver for Counting {
    fn attempt_ended(&self, provider: ProviderId, result: AttemptResult, took: Duration) {
        let mut deliveries = self.deliveries.lock().unwrap_or_else(PoisonError::into_inner);
        let counted = deliveries.entry(provider).or_default();
        match result {
            AttemptResult::Delivered => counted.delivered += 1,
            AttemptResult::Rejected | AttemptResult::Failed => counted.failed += 1,
        }
        counted.micros = counted.micros.saturating_add(i64::try_from(took.as_micros()).unwrap_or(i64::MAX));
        drop(deliveries);
        counter!(ATTEMPTS, "result" => result.label()).increment(1);
        histogram!(ATTEMPT_TIME, "result" => result.label()).record(took);
    }

    fn in_flight(&self, attempts: usize) {
        gauge!(IN_FLIGHT).set(u32::try_from(attempts).unwrap_or(u32::MAX));
    }

    fn exhausted(&self) {
        counter!(EXHAUSTED).increment(1);
    }
}

impl MailObserver for Counting {
    fn sent(&self) {
        counter!(MAILS, "result" => "sent").increment(1);
    }

    fn failed(&self) {
        counter!(MAILS, "result" => "failed").increment(1);
    }

    fn given_up(&self) {
        counter!(MAILS, "result" => "given_up").increment(1);
    }
}
