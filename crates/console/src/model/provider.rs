//! Providers and the performance of their receivers.

use time::{Duration, OffsetDateTime};

use super::attempt::Attempt;
use super::{CappedCount, Series, TablePage};

/// The properties of a provider that affect deliveries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Provider {
    pub id: String,
    pub name: String,
    /// Scheme, host and port of its callback URL, whose path and query may contain tokens; `None` if it has no URL.
    pub callback_origin: Option<String>,
    /// Whether the provider manages all domain resources.
    pub is_designated: bool,
    /// Whether the credentials are refused and events are held back.
    pub is_suspended: bool,
}

/// Attempts within a period.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Performance {
    pub attempts: u64,
    /// Attempts with status 200.
    pub confirmed: u64,
    /// The mean duration of the attempts in microseconds; `None` without attempts.
    pub mean_latency: Option<i64>,
    /// `None` without attempts.
    pub percentiles: Option<Percentiles>,
}

/// Percentiles of durations in microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Percentiles {
    pub p50: i64,
    pub p95: i64,
    pub p99: i64,
}

/// The results of a receiver's latest attempts, at most 20.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LatestResults {
    pub attempts: u32,
    /// Attempts with status 200.
    pub confirmed: u32,
    /// When the newest attempt ended.
    pub ended_at: OffsetDateTime,
}

impl LatestResults {
    /// Fewer attempts are not significant: while a receiver restarts, a single event fails several times.
    const ATTEMPTS_MIN_TO_JUDGE: u32 = 20;
    /// Older results are not judged. The limit exceeds the longest wait between two attempts at an event, so a receiver
    /// without newer attempts has no pending events.
    const AGE_MAX: Duration = Duration::hours(48);

    /// Whether less than half of the attempts were confirmed, given enough recent attempts to judge.
    pub fn is_failing(&self, now: OffsetDateTime) -> bool {
        let is_significant =
            self.attempts >= Self::ATTEMPTS_MIN_TO_JUDGE && now - self.ended_at <= Self::AGE_MAX;
        is_significant && self.confirmed < self.attempts.div_ceil(2)
    }
}

/// A provider's undelivered events.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct UndeliveredEvents {
    pub pending: CappedCount,
    pub exhausted: CappedCount,
    pub unaddressed: CappedCount,
}

/// A page of providers.
#[derive(Debug, Clone)]
pub struct Providers {
    pub list: TablePage<ProviderRow>,
}

/// A row of the table of providers.
#[derive(Debug, Clone)]
pub struct ProviderRow {
    pub provider: Provider,
    pub companies: u64,
    pub last_24h: Performance,
    /// `None` before the first attempt.
    pub latest: Option<LatestResults>,
    pub undelivered: UndeliveredEvents,
}

/// The details of a provider.
#[derive(Debug, Clone)]
pub struct ProviderDetail {
    pub provider: Provider,
    pub companies: u64,
    pub last_24h: Performance,
    pub last_30d: Performance,
    /// `None` before the first attempt.
    pub latest: Option<LatestResults>,
    /// Attempts of the last 24 hours.
    pub confirmed_by_hour: Series,
    pub failed_by_hour: Series,
    /// Attempts of the last 30 days.
    pub confirmed_by_day: Series,
    pub failed_by_day: Series,
    pub undelivered: UndeliveredEvents,
    pub last_failure: Option<DeliveryFailure>,
}

/// A failed attempt and its event.
#[derive(Debug, Clone)]
pub struct DeliveryFailure {
    pub event_id: String,
    pub attempt: Attempt,
}
