//! Providers, and how their receivers do.

use super::attempt::Attempt;
use super::{Counted, Rows, Series};

/// A provider, as far as deliveries hang on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Provider {
    pub id: String,
    pub name: String,
    /// Scheme, host and port of its callback URL, whose path and query may contain tokens; `None` if it has no URL.
    pub callback_origin: Option<String>,
    /// Whether it manages all domain resources.
    pub is_designated: bool,
    /// Its credentials are refused, and its events wait.
    pub is_suspended: bool,
}

/// Attempts within some time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Performance {
    pub attempts: u64,
    /// Those that were answered 200.
    pub confirmed: u64,
    /// In microseconds; none where there was no attempt.
    pub mean_latency: Option<i64>,
}

impl Performance {
    /// Fewer attempts say nothing: one event whose receiver restarts fails several times.
    const JUDGED_FROM_ATTEMPTS: u64 = 20;

    /// Whether fewer than half of the attempts were confirmed, of enough to judge by.
    pub fn is_failing(&self) -> bool {
        self.attempts >= Self::JUDGED_FROM_ATTEMPTS && self.confirmed < self.attempts.div_ceil(2)
    }
}

/// Events of a provider that are not delivered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Waiting {
    pub pending: Counted,
    pub exhausted: Counted,
    pub unaddressed: Counted,
}

/// A page of providers.
#[derive(Debug, Clone)]
pub struct Providers {
    pub list: Rows<ProviderRow>,
}

/// A provider among others.
#[derive(Debug, Clone)]
pub struct ProviderRow {
    pub provider: Provider,
    pub companies: u64,
    pub last_24h: Performance,
    pub waiting: Waiting,
}

/// A provider by itself.
#[derive(Debug, Clone)]
pub struct ProviderDetail {
    pub provider: Provider,
    pub companies: u64,
    pub last_24h: Performance,
    pub last_30d: Performance,
    /// Attempts of the last 24 hours.
    pub confirmed_by_hour: Series,
    pub failed_by_hour: Series,
    /// Attempts of the last 30 days.
    pub confirmed_by_day: Series,
    pub failed_by_day: Series,
    pub waiting: Waiting,
    pub last_failure: Option<Failure>,
}

/// An attempt that failed, and the event that it was for.
#[derive(Debug, Clone)]
pub struct Failure {
    pub event_id: String,
    pub attempt: Attempt,
}
