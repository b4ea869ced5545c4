//! The service as a whole.

use time::{Date, OffsetDateTime};

use super::{Counted, Named, Performance, Series};

/// What the first page shows.
#[derive(Debug, Clone)]
pub struct Overview {
    pub activity: Activity,
    /// None where nothing has been counted yet.
    pub api: Option<Api>,
    pub deliveries: Deliveries,
    pub mails: Mails,
    pub ledger: Ledger,
    pub service: Service,
    pub troubles: Troubles,
}

/// Recognitions, and the points that they moved.
#[derive(Debug, Clone)]
pub struct Activity {
    /// Of the last 24 hours.
    pub recognitions_by_hour: Series,
    pub points_by_hour: Series,
    /// Of the last 30 days.
    pub recognitions_by_day: Series,
    pub points_by_day: Series,
}

/// Requests to the API, each series by hour over the last 24.
#[derive(Debug, Clone)]
pub struct Api {
    /// Whose requests these are and since when, in a sentence.
    pub counted: String,
    /// All of them, whatever they were answered.
    pub requests: Series,
    /// Those that were answered 4xx.
    pub client_errors: Series,
    /// Those that were answered 5xx.
    pub server_errors: Series,
    /// Mean duration in microseconds.
    pub latency: Series,
}

/// Events by what has become of them.
#[derive(Debug, Clone, Default)]
pub struct Deliveries {
    pub pending: Counted,
    /// Within the last 24 hours.
    pub delivered: u64,
    pub exhausted: Counted,
    pub unaddressed: Counted,
    /// When the oldest of those that are pending was caused.
    pub oldest_pending_at: Option<OffsetDateTime>,
}

/// Mails by what has become of them.
#[derive(Debug, Clone, Default)]
pub struct Mails {
    pub waiting: Counted,
    /// And still kept.
    pub sent: Counted,
    pub given_up: Counted,
}

/// How the ledger stands.
#[derive(Debug, Clone, Default)]
pub struct Ledger {
    pub last_seal: Option<Seal>,
    pub last_verification: Option<Verification>,
    /// Companies whose accounts do not add up: never anything but 0.
    pub unbalanced_companies: u64,
}

/// A link of the chain over all facts.
#[derive(Debug, Clone)]
pub struct Seal {
    pub sequence: u64,
    pub created_at: OffsetDateTime,
    /// In hexadecimal digits.
    pub head: String,
}

/// What a run of `guerdon verify` found.
#[derive(Debug, Clone)]
pub struct Verification {
    pub ended_at: OffsetDateTime,
    /// Broken invariants; 0 where every one holds.
    pub violations: u64,
}

/// The process and its database.
#[derive(Debug, Clone)]
pub struct Service {
    pub commit: String,
    pub started_at: OffsetDateTime,
    /// `SQLite` or `PostgreSQL`, with its version.
    pub database: String,
    pub database_bytes: Option<u64>,
    /// None where a proxy ends TLS.
    pub certificate: Option<Certificate>,
}

/// The API's certificate.
#[derive(Debug, Clone)]
pub struct Certificate {
    pub last_day: Date,
    /// A self-signed one is made anew in time, by itself.
    pub is_self_signed: bool,
}

/// What else may need somebody, counted.
#[derive(Debug, Clone, Default)]
pub struct Troubles {
    /// Companies whose reserve is below their threshold.
    pub low_reserves: u64,
    /// Schedules whose date was tried and could not be paid.
    pub failing_schedules: u64,
    pub suspended_providers: u64,
    /// Providers whose receiver [fails](Performance::is_failing), by name, with their attempts of this hour and the one
    /// before.
    pub failing_receivers: Vec<(Named, Performance)>,
}
