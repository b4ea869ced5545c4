//! The metrics, as Prometheus text on the operator's listener.
//!
//! Metrics are recorded through the `metrics` facade under names that begin with `guerdon_`. This module describes each
//! name, and sets the gauges that require a query of the database or the system.

use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use guerdon_domain::notifications::Channel;
use guerdon_domain::ports::{
    Clock, DurationCounts, LatestAttempts, ProviderHour, Store, StoreError, StoreExt,
    UnsentNotificationCounts,
};
use guerdon_domain::values::ProviderId;
use guerdon_mailer::MailerObserver;
use guerdon_webhook_dispatcher::{AttemptResult, DispatcherObserver};
use metrics::{Unit, counter, describe_counter, describe_gauge, describe_histogram, gauge, histogram};
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};

use super::to_gauge;
use super::upkeep_metrics::describe_upkeep_metrics;
use crate::platform::build_info::{COMMIT, VERSION};
use crate::platform::{SystemClock, descriptors};
use crate::tls::ReloadingCertificate;

const UNFINISHED_DISTRIBUTIONS: &str = "guerdon_distributions_unfinished";
const POINTS_IN_TRANSIT: &str = "guerdon_points_in_transit";
const PENDING_EVENTS: &str = "guerdon_outbox_pending_events";
const OLDEST_EVENT_AGE: &str = "guerdon_outbox_oldest_event_age_seconds";
const OLDEST_TRANSACTION_AGE: &str = "guerdon_event_feed_delay_seconds";
pub(super) const EXPIRING_SAML_CERTIFICATES: &str = "guerdon_saml_certificates_expiring";
const BUILD_INFO: &str = "guerdon_build_info";
const CELL_INFO: &str = "guerdon_cell_info";
const MAINTENANCE: &str = "guerdon_maintenance";
const RESIDENT_MEMORY: &str = "process_resident_memory_bytes";
const OPEN_DESCRIPTORS: &str = "process_open_fds";
const CERTIFICATE_EXPIRY: &str = "guerdon_certificate_expires_timestamp_seconds";
const UNBALANCED_COMPANIES: &str = "guerdon_ledger_unbalanced_companies";
const WEBHOOK_ATTEMPTS: &str = "guerdon_webhook_attempts_total";
const WEBHOOK_ATTEMPT_DURATION: &str = "guerdon_webhook_attempt_duration_seconds";
const WEBHOOK_ATTEMPTS_IN_FLIGHT: &str = "guerdon_webhook_attempts_in_flight";
const EXHAUSTED_EVENTS: &str = "guerdon_webhook_events_exhausted_total";
const MAIL_ATTEMPTS: &str = "guerdon_mail_attempts_total";
/// Histogram buckets in seconds, from the duration of a fast read to longer than clients wait.
const DURATION_BUCKET_BOUNDS_SECONDS: [f64; 14] =
    [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 15.0];

/// All metrics of this process.
#[derive(Clone)]
pub(super) struct Metrics(PrometheusHandle);

impl Metrics {
    /// Installs the recorder on the first call. Later calls return the same metrics and ignore `cell`. `cell` is the
    /// name of this installation, if there are several.
    pub(super) fn install_recorder(cell: Option<&str>) -> anyhow::Result<Self> {
        static HANDLE: OnceLock<PrometheusHandle> = OnceLock::new();
        if let Some(handle) = HANDLE.get() {
            return Ok(Self(handle.clone()));
        }
        let recorder =
            PrometheusBuilder::new().set_buckets(&DURATION_BUCKET_BOUNDS_SECONDS)?.build_recorder();
        let handle = HANDLE.get_or_init(|| recorder.handle()).clone();
        if metrics::set_global_recorder(recorder).is_ok() {
            describe_metrics();
        }
        if let Some(cell) = cell {
            gauge!(CELL_INFO, "cell" => cell.to_owned()).set(1.0);
        }
        Ok(Self(handle))
    }

    /// Renders the metrics as Prometheus text.
    pub(super) fn render_text(&self) -> String {
        self.0.render()
    }

    /// Aggregates the histograms. Must be called every few seconds.
    pub(super) fn run_upkeep(&self) {
        self.0.run_upkeep();
    }
}

fn describe_metrics() {
    describe_api_metrics();
    describe_ledger_metrics();
    describe_delivery_metrics();
    describe_gauge!(RESIDENT_MEMORY, Unit::Bytes, "Resident memory of this process");
    describe_gauge!(OPEN_DESCRIPTORS, "Open file descriptors of this process");
    describe_gauge!(
        CERTIFICATE_EXPIRY,
        Unit::Seconds,
        "When the certificate in use expires, in seconds since 1970"
    );
    describe_gauge!(BUILD_INFO, "Always 1; the labels are the version and the commit");
    describe_gauge!(CELL_INFO, "Always 1; the label is the name of the cell (setting cell)");
    describe_gauge!(
        EXPIRING_SAML_CERTIFICATES,
        "Companies whose single sign-on certificate has expired or expires within 30 days"
    );
    describe_gauge!(MAINTENANCE, "1 while maintenance is on, 0 otherwise");
    describe_upkeep_metrics();
    set_initial_values();
}

fn describe_api_metrics() {
    describe_histogram!(
        "guerdon_http_request_duration_seconds",
        Unit::Seconds,
        "Duration of requests by method, route and status"
    );
    describe_gauge!("guerdon_http_connections", "Connections to the provider API");
    describe_counter!(
        "guerdon_http_connections_refused_total",
        "Connections closed immediately by cause: all, address"
    );
    describe_gauge!(
        "guerdon_http_requests_waiting",
        "Requests waiting for a permit, by kind: parse, read, write"
    );
    describe_gauge!("guerdon_event_feed_requests_waiting", "Requests that wait for new events");
    describe_gauge!(
        "guerdon_http_memory_bytes",
        Unit::Bytes,
        "Memory by kind: body (large request bodies), work (large requests and responses, until the client has read them), received (data from connections without valid credentials)"
    );
}

fn describe_ledger_metrics() {
    describe_histogram!(
        "guerdon_database_wait_seconds",
        Unit::Seconds,
        "How long units of work waited for a connection"
    );
    describe_counter!(
        "guerdon_database_wait_timeouts_total",
        "Units of work that timed out waiting for a connection"
    );
    describe_gauge!("guerdon_ledger_commands_waiting", "Commands that move points and wait for a batch");
    describe_gauge!(UNFINISHED_DISTRIBUTIONS, "Distributions in several steps that are not finished");
    describe_gauge!(
        POINTS_IN_TRANSIT,
        "Points that unfinished distributions have taken from reserves but not yet paid to users"
    );
    describe_gauge!(
        OLDEST_TRANSACTION_AGE,
        Unit::Seconds,
        "Age of the oldest open transaction, which delays the event feed and the seals; 0 if there is none"
    );
    describe_gauge!(UNBALANCED_COMPANIES, "Companies whose accounts do not sum to zero: must always be 0");
}

fn describe_delivery_metrics() {
    describe_gauge!(PENDING_EVENTS, "Pending events");
    describe_gauge!(OLDEST_EVENT_AGE, Unit::Seconds, "Age of the oldest pending event; 0 if there is none");
    describe_counter!(
        WEBHOOK_ATTEMPTS,
        "Attempts to deliver an event by result: delivered, rejected, failed"
    );
    describe_histogram!(WEBHOOK_ATTEMPT_DURATION, Unit::Seconds, "How long attempts took, by result");
    describe_gauge!(WEBHOOK_ATTEMPTS_IN_FLIGHT, "Attempts in flight");
    describe_counter!(EXHAUSTED_EVENTS, "Events whose final attempt failed, since the start");
    for channel in Channel::ALL {
        let [waiting, given_up] = unsent_metric_names(*channel);
        let channel = channel.name();
        describe_gauge!(waiting, format!("Pending notifications of the channel {channel}"));
        describe_gauge!(
            given_up,
            format!("Notifications of the channel {channel} whose final attempt failed")
        );
    }
    describe_counter!(MAIL_ATTEMPTS, "Attempts to send an email by result: sent, failed, given_up");
}

/// Sets the initial values of metrics that would otherwise be absent until their first event.
fn set_initial_values() {
    gauge!(BUILD_INFO, "version" => VERSION, "commit" => COMMIT).set(1.0);
    gauge!(MAINTENANCE).set(0.0);
    gauge!(PENDING_EVENTS).set(0.0);
    gauge!(OLDEST_EVENT_AGE).set(0.0);
    gauge!(OLDEST_TRANSACTION_AGE).set(0.0);
    gauge!(UNFINISHED_DISTRIBUTIONS).set(0.0);
    gauge!(POINTS_IN_TRANSIT).set(0.0);
    gauge!(UNBALANCED_COMPANIES).set(0.0);
    gauge!(WEBHOOK_ATTEMPTS_IN_FLIGHT).set(0.0);
    for result in [AttemptResult::Delivered, AttemptResult::Rejected, AttemptResult::Failed] {
        counter!(WEBHOOK_ATTEMPTS, "result" => result.metric_label()).absolute(0);
    }
    counter!(EXHAUSTED_EVENTS).absolute(0);
    for result in ["sent", "failed", "given_up"] {
        counter!(MAIL_ATTEMPTS, "result" => result).absolute(0);
    }
}

/// Measures the outbox and the points in transit.
pub(super) fn refresh_outbox_metrics(store: &dyn Store) {
    let found = store.read_snapshot(|reads| -> Result<_, StoreError> {
        let count_unsent = |channel: &Channel| Ok((*channel, reads.count_unsent_notifications(*channel)?));
        let unsent: Vec<_> = Channel::ALL.iter().map(count_unsent).collect::<Result<_, StoreError>>()?;
        Ok((reads.outbox_statistics()?, unsent, reads.unfinished_distributions()?))
    });
    let (depth, unsent, unfinished) = match found {
        Ok(found) => found,
        Err(StoreError::Unavailable(_)) => return, // the health check logs an unavailable database
        Err(cause) => return log::warn!(cause:%; "cannot count pending events and emails"),
    };
    let age = depth.oldest_created_at.map_or(Duration::ZERO, |oldest| {
        Duration::try_from(SystemClock.now() - oldest).unwrap_or_default() // negative if the clock was set back
    });
    gauge!(PENDING_EVENTS).set(to_gauge(depth.pending));
    for (channel, UnsentNotificationCounts { waiting, given_up }) in unsent {
        let [waiting_metric, given_up_metric] = unsent_metric_names(channel);
        gauge!(waiting_metric).set(to_gauge(waiting));
        gauge!(given_up_metric).set(to_gauge(given_up));
    }
    gauge!(OLDEST_EVENT_AGE).set(age.as_secs_f64());
    gauge!(OLDEST_TRANSACTION_AGE).set(depth.oldest_transaction_age.as_secs_f64());
    gauge!(UNFINISHED_DISTRIBUTIONS).set(to_gauge(unfinished.distributions.len()));
    gauge!(POINTS_IN_TRANSIT).set(to_gauge(unfinished.points));
}

/// The names of the gauges for a channel's pending and given-up notifications.
fn unsent_metric_names(channel: Channel) -> [&'static str; 2] {
    match channel {
        Channel::Mail => ["guerdon_mails_pending", "guerdon_mails_given_up"],
    }
}

/// Sets the gauge of maintenance mode.
pub(super) fn record_maintenance(is_on: bool) {
    gauge!(MAINTENANCE).set(if is_on { 1.0 } else { 0.0 });
}

/// Measures when the certificate expires.
pub(super) fn refresh_certificate_metrics(certificate: &ReloadingCertificate) {
    if let Some(end) = certificate.expires_at().and_then(|end| u32::try_from(end).ok()) {
        gauge!(CERTIFICATE_EXPIRY).set(end);
    }
}

/// Measures the memory and descriptors of this process.
pub(super) fn refresh_process_metrics() {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:")?.trim().strip_suffix(" kB"));
    if let Some(kilobytes) = resident.and_then(|digits| digits.parse::<u32>().ok()) {
        gauge!(RESIDENT_MEMORY).set(f64::from(kilobytes) * 1_024.0);
    }
    if let Some(open) = descriptors::count_open().and_then(|count| u32::try_from(count).ok()) {
        gauge!(OPEN_DESCRIPTORS).set(open);
    }
}

/// Measures whether the accounts of each company sum to zero.
pub(super) fn refresh_ledger_metrics(store: &dyn Store, last_result: &AtomicI64) {
    let unbalanced = store.read_snapshot(|reads| reads.unbalanced_companies());
    let unbalanced = match unbalanced {
        Ok(unbalanced) => unbalanced,
        Err(StoreError::Unavailable(_)) => return, // the health check logs an unavailable database
        Err(cause) => {
            return log::warn!(cause:%; "cannot check that the accounts of each company sum to zero");
        }
    };
    last_result.store(unbalanced, Ordering::Relaxed);
    gauge!(UNBALANCED_COMPANIES).set(to_gauge(unbalanced));
    if unbalanced > 0 {
        log::error!(
            companies = unbalanced;
            "the accounts of some companies do not sum to zero: turn on maintenance mode and follow \
             docs/runbook.md, \"The ledger does not add up\""
        );
    }
}

/// Counts attempts to deliver events and emails.
#[derive(Default)]
pub(super) struct DeliveryCounters {
    /// The counts of each provider since the last call of `take_counts`.
    deliveries: Mutex<HashMap<ProviderId, ProviderCounts>>,
}

/// The attempts to deliver a provider's events.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ProviderCounts {
    /// The numbers of attempts and their total duration. The field for the hour is not set.
    pub(super) attempts: ProviderHour,
    pub(super) durations: DurationCounts,
    pub(super) latest: LatestAttempts,
}

impl DeliveryCounters {
    /// Returns the counts since the last call, and resets them.
    pub(super) fn take_counts(&self) -> HashMap<ProviderId, ProviderCounts> {
        std::mem::take(&mut *self.deliveries.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl DispatcherObserver for DeliveryCounters {
    fn attempt_ended(&self, provider: ProviderId, result: AttemptResult, took: Duration) {
        let mut deliveries = self.deliveries.lock().unwrap_or_else(PoisonError::into_inner);
        let counts = deliveries.entry(provider).or_default();
        counts.durations.record_duration(took);
        counts.latest.record_result(matches!(result, AttemptResult::Delivered));
        let counted = &mut counts.attempts;
        match result {
            AttemptResult::Delivered => counted.delivered += 1,
            AttemptResult::Rejected | AttemptResult::Failed => counted.failed += 1,
        }
        counted.duration_micros =
            counted.duration_micros.saturating_add(i64::try_from(took.as_micros()).unwrap_or(i64::MAX));
        drop(deliveries);
        counter!(WEBHOOK_ATTEMPTS, "result" => result.metric_label()).increment(1);
        histogram!(WEBHOOK_ATTEMPT_DURATION, "result" => result.metric_label()).record(took);
    }

    fn set_in_flight(&self, attempts: usize) {
        gauge!(WEBHOOK_ATTEMPTS_IN_FLIGHT).set(to_gauge(attempts));
    }

    fn event_exhausted(&self) {
        counter!(EXHAUSTED_EVENTS).increment(1);
    }
}

impl MailerObserver for DeliveryCounters {
    fn mail_sent(&self) {
        counter!(MAIL_ATTEMPTS, "result" => "sent").increment(1);
    }

    fn attempt_failed(&self) {
        counter!(MAIL_ATTEMPTS, "result" => "failed").increment(1);
    }

    fn mail_given_up(&self) {
        counter!(MAIL_ATTEMPTS, "result" => "given_up").increment(1);
    }
}
