//! Figures for the operator's pages, counted beside the work: nothing rests on them, and no rule asks for them.

use super::{MadeAttempt, StoreError, Timestamp};
use crate::money::{Amount, Points, PointsPerDollar};
use crate::values::{CompanyId, EventId, OccasionId, ProviderId};

/// The service in an hour.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ServiceHour {
    /// Which, since 1970.
    pub hour: i32,
    pub recognitions: i64,
    pub points: i64,
    /// To the API, whatever they were answered.
    pub requests: i64,
    /// Answered 4xx.
    pub client_errors: i64,
    /// Answered 5xx.
    pub server_errors: i64,
    /// How long all of them took.
    pub micros: i64,
}

/// A provider's deliveries in an hour.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ProviderHour {
    /// Which, since 1970.
    pub hour: i32,
    pub delivered: i64,
    pub failed: i64,
    /// How long all of them took.
    pub micros: i64,
}

/// A company on a day: what was recognised, and by how much its accounts changed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CompanyDay {
    /// Which, since 1970.
    pub day: i32,
    pub recognitions: i64,
    pub points: i64,
    pub reserve: Amount,
    pub user_wallets: Amount,
    pub peer_wallets: Amount,
    pub manager_wallets: Amount,
}

/// A company among all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompanyLine {
    pub id: CompanyId,
    pub provider: ProviderId,
    pub domain: String,
    pub name: String,
    pub users: i64,
    pub rate: PointsPerDollar,
    pub reserve: Amount,
    pub reserve_alert: Option<Points>,
    /// Since the day that was asked for.
    pub recognitions: i64,
}

/// How much an occasion was used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OccasionLine {
    pub id: OccasionId,
    pub name: String,
    pub recognitions: i64,
    pub points: i64,
}

/// How many events of a provider are not delivered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Undelivered {
    pub pending: i64,
    pub exhausted: i64,
    pub unaddressed: i64,
}

pub trait ReadFigures {
    /// The hours of the service from one on, oldest first.
    fn service_hours(&mut self, from: i32) -> Result<Vec<ServiceHour>, StoreError>;

    /// The hours of a provider, or of all together, from one on, oldest first.
    fn provider_hours(
        &mut self,
        provider: Option<ProviderId>,
        from: i32,
    ) -> Result<Vec<ProviderHour>, StoreError>;

    /// The days of a company from one on, oldest first; day 0 is all days together.
    fn company_days(&mut self, company: CompanyId, from: i32) -> Result<Vec<CompanyDay>, StoreError>;

    /// All companies, with what they recognised since a day.
    fn company_lines(&mut self, since_day: i32) -> Result<Vec<CompanyLine>, StoreError>;

    /// The occasions that a company used most since a day.
    fn occasion_lines(
        &mut self,
        company: CompanyId,
        since_day: i32,
        limit: i64,
    ) -> Result<Vec<OccasionLine>, StoreError>;

    /// A provider's events that are not delivered, or everybody's; no more than so many of each are counted.
    fn undelivered(&mut self, provider: Option<ProviderId>, most: i64) -> Result<Undelivered, StoreError>;

    /// How many mails were handed over, and are kept; no more than so many are counted.
    fn sent_mails(&mut self, most: i64) -> Result<i64, StoreError>;

    /// How many companies have a reserve below their threshold.
    fn low_reserves(&mut self) -> Result<i64, StoreError>;

    /// The latest failed attempt at an event of a provider that is not delivered; none where nothing waits or was given up.
    fn last_failure(&mut self, provider: ProviderId) -> Result<Option<(EventId, MadeAttempt)>, StoreError>;

    /// In which company an event was caused.
    fn company_of_event(&mut self, id: EventId) -> Result<Option<CompanyId>, StoreError>;

    /// How many bytes the database takes.
    fn database_bytes(&mut self) -> Result<i64, StoreError>;
}

/// Adding to figures.
pub trait Figures {
    fn add_service_hour(&mut self, it: &ServiceHour) -> Result<(), StoreError>;

    fn add_provider_hour(&mut self, provider: ProviderId, it: &ProviderHour) -> Result<(), StoreError>;
}

/// Which hour a moment is in, since 1970.
pub fn hour_of(at: Timestamp) -> i32 {
    i32::try_from(at.unix_micros().div_euclid(3_600_000_000)).unwrap_or(i32::MAX)
}

/// Which day a moment is in, since 1970.
pub fn day_of(at: Timestamp) -> i32 {
    i32::try_from(at.unix_micros().div_euclid(86_400_000_000)).unwrap_or(i32::MAX)
}
