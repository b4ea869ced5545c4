//! Providers and the performance of their receivers.

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
    /// In microseconds; `None` without attempts.
    pub mean_latency: Option<i64>,
}

impl Performance {
    /// Fewer attempts are not significant: while a receiver restarts, a single event fails several times.
    const ATTEMPTS_MIN_TO_JUDGE: u64 = 20;

    /// Whether less than half of the attempts were confirmed, given enough attempts to judge.
    pub fn is_failing(&self) -> bool {
        self.attempts >= Self::ATTEMPTS_MIN_TO_JUDGE && self.confirmed < self.attempts.div_ceil(2)
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
    pub undelivered: UndeliveredEvents,
}

/// The details of a provider.
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
    pub undelivered: UndeliveredEvents,
    pub last_failure: Option<DeliveryFailure>,
}

/// A failed attempt and its event.
#[derive(Debug, Clone)]
pub struct DeliveryFailure {
    pub event_id: String,
    pub attempt: Attempt,
}
