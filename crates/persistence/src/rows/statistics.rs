//! Statistics for the operator's console.

use diesel::prelude::*;
use diesel::sql_types::BigInt;
use guerdon_domain::money::{Amount, Points, PointsPerDollar};
use guerdon_domain::ports::{
    CompanyDay, CompanySummary, LatestAttempts, ProviderAttempts, ServiceHour, StoreError,
};
use guerdon_domain::values::{CompanyId, ProviderId};

use super::schema::{companies, company_statistics, latest_attempts, service_statistics};
use super::{DbTimestamp, Id, RowReader};

#[derive(Queryable, Selectable)]
#[diesel(table_name = service_statistics)]
pub(crate) struct ServiceHourRow {
    hour: i32,
    recognitions: i64,
    points: i64,
    requests: i64,
    client_errors: i64,
    server_errors: i64,
    duration_micros: i64,
}

impl ServiceHourRow {
    pub(crate) fn into_service_hour(self) -> ServiceHour {
        let Self { hour, recognitions, points, requests, client_errors, server_errors, duration_micros } =
            self;
        ServiceHour { hour, recognitions, points, requests, client_errors, server_errors, duration_micros }
    }
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = latest_attempts)]
pub(crate) struct ProviderAttemptsRow {
    provider_id: Id<ProviderId>,
    results: i64,
    attempts: i16,
    ended_at: DbTimestamp,
}

impl ProviderAttemptsRow {
    pub(crate) fn into_provider_attempts(self) -> Result<ProviderAttempts, StoreError> {
        let reader = RowReader { table: "latest_attempts", id: &self.provider_id.0 };
        let results = reader.require_valid("results", u32::try_from(self.results).ok())?;
        let attempts = reader.require_valid("attempts", u32::try_from(self.attempts).ok())?;
        Ok(ProviderAttempts {
            provider: self.provider_id.0,
            latest: LatestAttempts::from_stored(results, attempts),
            ended_at: self.ended_at.0,
        })
    }
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = company_statistics)]
pub(crate) struct CompanyDayRow {
    day: i32,
    recognitions: i64,
    points: i64,
    reserve: i64,
    user_wallets: i64,
    peer_wallets: i64,
    manager_wallets: i64,
}

impl CompanyDayRow {
    pub(crate) fn into_company_day(self) -> CompanyDay {
        CompanyDay {
            day: self.day,
            recognitions: self.recognitions,
            points: self.points,
            reserve: Amount::from_nanodollars(self.reserve),
            user_wallets: Amount::from_nanodollars(self.user_wallets),
            peer_wallets: Amount::from_nanodollars(self.peer_wallets),
            manager_wallets: Amount::from_nanodollars(self.manager_wallets),
        }
    }
}

#[derive(QueryableByName)]
#[diesel(table_name = companies)]
pub(crate) struct CompanySummaryRow {
    id: Id<CompanyId>,
    provider_id: Id<ProviderId>,
    domain: String,
    company_name: String,
    #[diesel(sql_type = BigInt)]
    users: i64,
    points_per_dollar: i32,
    #[diesel(sql_type = BigInt)]
    reserve: i64,
    reserve_alert: Option<i64>,
    #[diesel(sql_type = BigInt)]
    recognitions: i64,
}

impl CompanySummaryRow {
    pub(crate) fn into_company_summary(self) -> Result<CompanySummary, StoreError> {
        let reader = RowReader { table: "companies", id: &self.id.0 };
        let rate = PointsPerDollar::new(self.points_per_dollar.into());
        Ok(CompanySummary {
            id: self.id.0,
            provider: self.provider_id.0,
            domain: self.domain,
            name: self.company_name,
            users: self.users,
            rate: reader.require_valid("points_per_dollar", rate)?,
            reserve: Amount::from_nanodollars(self.reserve),
            reserve_alert: self.reserve_alert.and_then(Points::new),
            recognitions: self.recognitions,
        })
    }
}
