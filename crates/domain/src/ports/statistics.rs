//! Statistics for the operator's console. They are updated alongside the work; no rule depends on them. The ports are
//! part of [`ReadTx`](super::ReadTx) and [`Tx`](super::Tx), because a page reads statistics and ledger from one
//! snapshot, and because a seal adds the statistics of the entries that it covers in its own transaction: it reads
//! every entry exactly once, so that they are counted exactly once.

use std::collections::HashMap;

use super::{DurationCounts, LatestAttempts, RecordedAttempt, StoreError, Timestamp};
use crate::model::Channel;
use crate::money::{Amount, Points, PointsPerDollar};
use crate::values::{CompanyId, EventId, OccasionId, ProviderId};

/// The statistics of the service for an hour.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ServiceHour {
    /// The hour, counted since 1970.
    pub hour: i32,
    pub recognitions: i64,
    pub points: i64,
    /// Requests to the API, whatever their response.
    pub requests: i64,
    /// Responses with a status 4xx.
    pub client_errors: i64,
    /// Responses with a status 5xx.
    pub server_errors: i64,
    /// The total duration of the requests.
    pub duration_micros: i64,
}

/// The statistics of a provider's deliveries for an hour.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ProviderHour {
    /// The hour, counted since 1970.
    pub hour: i32,
    pub delivered: i64,
    pub failed: i64,
    /// The total duration of the attempts.
    pub duration_micros: i64,
}

/// The statistics of a company for a day: recognitions, and the changes of its accounts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CompanyDay {
    /// The day, counted since 1970.
    pub day: i32,
    pub recognitions: i64,
    pub points: i64,
    pub reserve: Amount,
    pub user_wallets: Amount,
    pub peer_wallets: Amount,
    pub manager_wallets: Amount,
}

/// The summary of a company in the list of all companies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompanySummary {
    pub id: CompanyId,
    pub provider: ProviderId,
    pub domain: String,
    pub name: String,
    pub users: i64,
    pub rate: PointsPerDollar,
    pub reserve: Amount,
    pub reserve_alert: Option<Points>,
    /// The number of recognitions since the requested day.
    pub recognitions: i64,
}

/// How often an occasion was used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OccasionUsage {
    pub id: OccasionId,
    pub name: String,
    pub recognitions: i64,
    pub points: i64,
}

/// The numbers of a provider's undelivered events.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct UndeliveredCounts {
    pub pending: i64,
    pub exhausted: i64,
    pub unaddressed: i64,
}

/// What the durations belong to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum DurationSubject {
    /// Requests to the API.
    Requests,
    /// Attempts to deliver a provider's events.
    Deliveries(ProviderId),
}

/// A provider's latest delivery attempts, and when the newest ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProviderAttempts {
    pub provider: ProviderId,
    pub latest: LatestAttempts,
    pub ended_at: Timestamp,
}

pub trait ReadStatistics {
    /// The service's statistics since `from_hour`, oldest first.
    fn service_hours(&mut self, from_hour: i32) -> Result<Vec<ServiceHour>, StoreError>;

    /// The statistics of a provider, or of all providers together, since `from_hour`, oldest first.
    fn provider_hours(
        &mut self,
        provider: Option<ProviderId>,
        from_hour: i32,
    ) -> Result<Vec<ProviderHour>, StoreError>;

    /// The statistics of a company since a day, oldest first, preceded by the total of all days, whose `day` is 0.
    fn company_days(&mut self, company: CompanyId, from_day: i32) -> Result<Vec<CompanyDay>, StoreError>;

    /// All companies, each with the number of its recognitions since a day.
    fn list_company_summaries(&mut self, since_day: i32) -> Result<Vec<CompanySummary>, StoreError>;

    /// The occasions that a company has used most since a day.
    fn list_occasion_usage(
        &mut self,
        company: CompanyId,
        since_day: i32,
        limit: i64,
    ) -> Result<Vec<OccasionUsage>, StoreError>;

    /// The numbers of undelivered events, of one provider or of all. Counting stops at `count_max` for each
    /// number.
    fn count_undelivered_events(
        &mut self,
        provider: Option<ProviderId>,
        count_max: i64,
    ) -> Result<UndeliveredCounts, StoreError>;

    /// The number of sent notifications of a channel that are still stored. Counting stops at `count_max`.
    fn count_sent_notifications(&mut self, channel: Channel, count_max: i64) -> Result<i64, StoreError>;

    /// The number of companies whose reserve is below its alert threshold.
    fn count_low_reserves(&mut self) -> Result<i64, StoreError>;

    /// The latest failed attempt at one of the pending events of a provider that are due last, or at its newest
    /// exhausted event. `None` if none of these events has a failed attempt.
    fn last_failed_attempt(
        &mut self,
        provider: ProviderId,
    ) -> Result<Option<(EventId, RecordedAttempt)>, StoreError>;

    /// The company in which an event occurred.
    fn company_of_event(&mut self, id: EventId) -> Result<Option<CompanyId>, StoreError>;

    /// The size of the database in bytes.
    fn database_bytes(&mut self) -> Result<i64, StoreError>;

    /// The durations since an hour, by hour, oldest first. An hour without durations is absent.
    fn duration_hours(
        &mut self,
        subject: DurationSubject,
        from_hour: i32,
    ) -> Result<Vec<(i32, DurationCounts)>, StoreError>;

    /// The latest attempts of each provider. Providers without attempts are left out.
    fn list_provider_attempts(&mut self) -> Result<Vec<ProviderAttempts>, StoreError>;

    /// The latest attempt at each of these events. Events without an attempt are left out.
    fn latest_attempts_of_events(
        &mut self,
        events: &[EventId],
    ) -> Result<HashMap<EventId, RecordedAttempt>, StoreError>;
}

/// Adds to statistics.
pub trait Statistics {
    fn add_service_hour(&mut self, hour: &ServiceHour) -> Result<(), StoreError>;

    fn add_provider_hour(&mut self, provider: ProviderId, hour: &ProviderHour) -> Result<(), StoreError>;

    /// Adds to the durations of an hour. To prevent deadlocks, all processes must present the subjects in ascending
    /// order.
    fn add_durations(
        &mut self,
        hour: i32,
        durations: &[(DurationSubject, DurationCounts)],
    ) -> Result<(), StoreError>;

    /// Appends the results of attempts that have ended, in ascending order of the providers.
    fn add_provider_attempts(&mut self, attempts: &[ProviderAttempts]) -> Result<(), StoreError>;
}

/// The hour of a time, counted since 1970.
pub fn hours_since_epoch(at: Timestamp) -> i32 {
    i32::try_from(at.unix_micros().div_euclid(3_600_000_000)).unwrap_or(i32::MAX)
}

/// The day of a time, counted since 1970.
pub fn days_since_epoch(at: Timestamp) -> i32 {
    i32::try_from(at.unix_micros().div_euclid(86_400_000_000)).unwrap_or(i32::MAX)
}
