//! The overview of the service.

use time::{Date, OffsetDateTime};

use super::{CappedCount, LatestResults, ObjectReference, Percentiles, Series};

/// The content of the first page.
#[derive(Debug, Clone)]
pub struct Overview {
    pub activity: Activity,
    /// `None` before the first statistics are written.
    pub api: Option<ApiStatistics>,
    pub deliveries: DeliveryCounts,
    pub mails: MailCounts,
    pub ledger: LedgerStatus,
    pub service: ServiceStatus,
    pub problems: Problems,
}

/// Recognitions and the points they moved.
#[derive(Debug, Clone)]
pub struct Activity {
    /// The number of recognitions in each of the last 24 hours.
    pub recognitions_by_hour: Series,
    pub points_by_hour: Series,
    /// The number of recognitions on each of the last 30 days.
    pub recognitions_by_day: Series,
    pub points_by_day: Series,
}

/// Requests to the API by hour over the last 24 hours.
#[derive(Debug, Clone)]
pub struct ApiStatistics {
    /// Which requests are counted and since when, as a sentence.
    pub coverage: String,
    /// All requests, whatever their status.
    pub requests: Series,
    /// Requests with a 4xx response.
    pub client_errors: Series,
    /// Requests with a 5xx response.
    pub server_errors: Series,
    /// Mean duration in microseconds.
    pub latency: Series,
    /// Percentiles of the durations in all hours together; `None` without requests.
    pub percentiles: Option<Percentiles>,
}

/// Events by delivery state.
#[derive(Debug, Clone, Default)]
pub struct DeliveryCounts {
    pub pending: CappedCount,
    /// The number of events delivered within the last 24 hours.
    pub delivered: u64,
    /// The number of attempts within the last 24 hours. Each delivered event needed at least one.
    pub attempts: u64,
    pub exhausted: CappedCount,
    pub unaddressed: CappedCount,
    /// When the oldest pending event was created.
    pub oldest_pending_at: Option<OffsetDateTime>,
}

/// Emails by state.
#[derive(Debug, Clone, Default)]
pub struct MailCounts {
    pub waiting: CappedCount,
    /// Sent emails that are still stored.
    pub sent: CappedCount,
    pub given_up: CappedCount,
}

/// The state of the ledger.
#[derive(Debug, Clone, Default)]
pub struct LedgerStatus {
    pub last_seal: Option<Seal>,
    pub last_verification: Option<Verification>,
    /// The number of companies whose accounts do not balance. It must always be 0.
    pub unbalanced_companies: u64,
}

/// A seal: a link of the hash chain over journal entries, audit entries and event bodies.
#[derive(Debug, Clone)]
pub struct Seal {
    pub sequence: u64,
    pub created_at: OffsetDateTime,
    /// The hash in hexadecimal.
    pub head: String,
}

/// The result of a run of `guerdon verify`.
#[derive(Debug, Clone)]
pub struct Verification {
    pub ended_at: OffsetDateTime,
    /// The number of reported violations.
    pub violations: u64,
}

/// The result of the latest prune.
#[derive(Debug, Clone)]
pub struct PruneRun {
    pub ended_at: OffsetDateTime,
    /// The number of deleted records by kind as text; `None` if nothing was deleted.
    pub deleted: Option<String>,
}

/// The process and its database.
#[derive(Debug, Clone)]
pub struct ServiceStatus {
    pub commit: String,
    pub started_at: OffsetDateTime,
    /// `SQLite` or `PostgreSQL`, with version.
    pub database: String,
    pub database_bytes: Option<u64>,
    /// `None` if a proxy terminates TLS.
    pub certificate: Option<Certificate>,
    /// `None` if no prune has ended yet.
    pub last_prune: Option<PruneRun>,
    /// `None` if no backup was recorded.
    pub last_backup_at: Option<OffsetDateTime>,
}

/// The API's certificate.
#[derive(Debug, Clone)]
pub struct Certificate {
    pub last_day: Date,
    /// Whether the certificate is self-signed. The service renews a self-signed certificate automatically.
    pub is_self_signed: bool,
}

/// Counts of other conditions that may need attention.
#[derive(Debug, Clone, Default)]
pub struct Problems {
    /// The number of companies whose reserve is below the threshold.
    pub low_reserves: u64,
    /// The number of schedules that are failing: the payment for the next date was tried without success.
    pub failing_schedules: u64,
    pub suspended_providers: u64,
    /// Providers whose receiver [fails](LatestResults::is_failing), by name.
    pub failing_receivers: Vec<(ObjectReference, LatestResults)>,
}
