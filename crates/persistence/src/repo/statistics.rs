//! Statistics for the operator's console.

use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Bool, Integer};
use guerdon_domain::notifications::Channel;
use guerdon_domain::ports::ReadOutbox as _;
use guerdon_domain::ports::{
    CompanyDay, CompanySummary, OccasionUsage, ProviderHour, ReadStatistics, RecordedAttempt, ServiceHour,
    Statistics, StoreError, UndeliveredCounts,
};
use guerdon_domain::values::{CompanyId, EventId, ProviderId};
use guerdon_domain::wallets::AccountKind;

use super::super::{DATABASE_BYTES, placeholder};
use super::{Unit, into_id, row_placeholders};
use crate::rows::conditions::{EXHAUSTED, PENDING, SENT, UNADDRESSED};
use crate::rows::schema::{company_statistics, deliveries, events, service_statistics};
use crate::rows::types::{Id, Identifier};
use crate::rows::{CompanyDayRow, CompanySummaryRow, OccasionUsageRow, ProviderHourRow, ServiceHourRow};

/// The maximum number of events that are read to find the latest attempt.
const SCANNED_EVENTS_MAX: i64 = 20;

#[derive(QueryableByName)]
struct UndeliveredRow {
    #[diesel(sql_type = BigInt)]
    pending: i64,
    #[diesel(sql_type = BigInt)]
    exhausted: i64,
    #[diesel(sql_type = BigInt)]
    unaddressed: i64,
}

impl ReadStatistics for Unit<'_> {
    fn service_hours(&mut self, from: i32) -> Result<Vec<ServiceHour>, StoreError> {
        let rows: Vec<ServiceHourRow> = self.query(|conn| {
            service_statistics::table
                .filter(service_statistics::hour.ge(from))
                .order(service_statistics::hour)
                .select(ServiceHourRow::as_select())
                .get_results(conn)
        })?;
        Ok(rows.into_iter().map(ServiceHourRow::into_service_hour).collect())
    }

    fn provider_hours(
        &mut self,
        provider: Option<ProviderId>,
        from: i32,
    ) -> Result<Vec<ProviderHour>, StoreError> {
        let which =
            if provider.is_some() { format!(" AND provider_id = {}", placeholder(2)) } else { String::new() };
        let sum = |column: &str| format!("CAST(SUM({column}) AS bigint) AS {column}");
        let query = format!(
            "SELECT hour, {}, {}, {} FROM provider_statistics WHERE hour >= {}{which} GROUP BY hour ORDER BY hour",
            sum("delivered"),
            sum("failed"),
            sum("duration_micros"),
            placeholder(1)
        );
        let rows: Vec<ProviderHourRow> = self.query(|conn| {
            let query = diesel::sql_query(query).into_boxed().bind::<Integer, _>(from);
            match provider {
                Some(provider) => query.bind::<Identifier, _>(Id(provider)).get_results(conn),
                None => query.get_results(conn),
            }
        })?;
        Ok(rows.into_iter().map(ProviderHourRow::into_provider_hour).collect())
    }

    fn company_days(&mut self, company: CompanyId, from: i32) -> Result<Vec<CompanyDay>, StoreError> {
        let rows: Vec<CompanyDayRow> = self.query(|conn| {
            company_statistics::table
                .filter(company_statistics::company_id.eq(Id(company)))
                .filter(company_statistics::day.ge(from).or(company_statistics::day.eq(0)))
                .order(company_statistics::day)
                .select(CompanyDayRow::as_select())
                .get_results(conn)
        })?;
        Ok(rows.into_iter().map(CompanyDayRow::into_company_day).collect())
    }

    fn list_company_summaries(&mut self, since_day: i32) -> Result<Vec<CompanySummary>, StoreError> {
        let query = format!(
            "SELECT c.id, c.provider_id, c.domain, c.company_name, c.points_per_dollar, c.reserve_alert, \
             a.balance AS reserve, \
             CAST(COALESCE((SELECT SUM(number) FROM active_users AS u WHERE u.company_id = c.id), 0) AS bigint) AS users, \
             CAST(COALESCE((SELECT SUM(recognitions) FROM company_statistics AS f WHERE f.company_id = c.id \
             AND f.day >= {}), 0) AS bigint) AS recognitions \
             FROM {}",
            placeholder(1),
            companies_with_reserves()
        );
        self.list(CompanySummaryRow::into_company_summary, |conn| {
            diesel::sql_query(query).bind::<Integer, _>(since_day).get_results(conn)
        })
    }

    fn list_occasion_usage(
        &mut self,
        company: CompanyId,
        since_day: i32,
        limit: i64,
    ) -> Result<Vec<OccasionUsage>, StoreError> {
        let query = format!(
            "SELECT o.id, o.name, f.recognitions, f.points FROM (SELECT occasion_id, \
             CAST(SUM(recognitions) AS bigint) AS recognitions, CAST(SUM(points) AS bigint) AS points \
             FROM occasion_statistics WHERE company_id = {} AND day >= {} GROUP BY occasion_id) AS f \
             JOIN occasions AS o ON o.id = f.occasion_id ORDER BY f.recognitions DESC, o.name LIMIT {}",
            placeholder(1),
            placeholder(2),
            placeholder(3)
        );
        let rows: Vec<OccasionUsageRow> = self.query(|conn| {
            diesel::sql_query(query)
                .bind::<Identifier, _>(Id(company))
                .bind::<Integer, _>(since_day)
                .bind::<BigInt, _>(limit)
                .get_results(conn)
        })?;
        Ok(rows.into_iter().map(OccasionUsageRow::into_occasion_usage).collect())
    }

    fn count_undelivered_events(
        &mut self,
        provider: Option<ProviderId>,
        count_max: i64,
    ) -> Result<UndeliveredCounts, StoreError> {
        let of =
            if provider.is_some() { format!("provider_id = {} AND ", placeholder(1)) } else { String::new() };
        let count = |state: &str| bounded_count(&format!("deliveries WHERE {of}{state}"), count_max);
        let query = format!(
            "SELECT {} AS pending, {} AS exhausted, {} AS unaddressed",
            count(PENDING),
            count(EXHAUSTED),
            count(UNADDRESSED)
        );
        let row: UndeliveredRow = self.query(|conn| {
            let query = diesel::sql_query(query).into_boxed();
            match provider {
                Some(provider) => query.bind::<Identifier, _>(Id(provider)).get_result(conn),
                None => query.get_result(conn),
            }
        })?;
        let UndeliveredRow { pending, exhausted, unaddressed } = row;
        Ok(UndeliveredCounts { pending, exhausted, unaddressed })
    }

    fn count_sent_notifications(&mut self, channel: Channel, count_max: i64) -> Result<i64, StoreError> {
        let count =
            bounded_count(&format!("notifications WHERE {SENT} AND channel = {}", channel.code()), count_max);
        self.query(|conn| diesel::select(diesel::dsl::sql::<BigInt>(&count)).get_result(conn))
    }

    fn count_low_reserves(&mut self) -> Result<i64, StoreError> {
        let count =
            format!("(SELECT count(*) FROM {} AND a.balance < a.alert_below)", companies_with_reserves());
        self.query(|conn| diesel::select(diesel::dsl::sql::<BigInt>(&count)).get_result(conn))
    }

    fn last_failed_attempt(
        &mut self,
        provider: ProviderId,
    ) -> Result<Option<(EventId, RecordedAttempt)>, StoreError> {
        // A pending event with an attempt is due later than every event without one.
        let pending = deliveries::table
            .filter(deliveries::provider_id.eq(Id(provider)).and(sql::<Bool>(PENDING)))
            .order((deliveries::next_attempt_at.desc(), deliveries::event_id.desc()));
        let exhausted = deliveries::table
            .filter(deliveries::provider_id.eq(Id(provider)).and(sql::<Bool>(EXHAUSTED)))
            .order(deliveries::event_id.desc());
        let mut found: Vec<Id<EventId>> = self
            .query(|conn| pending.limit(SCANNED_EVENTS_MAX).select(deliveries::event_id).get_results(conn))?;
        found.extend(self.query(|conn| {
            exhausted.limit(1).select(deliveries::event_id).get_results::<Id<EventId>>(conn)
        })?);
        let mut last: Option<(EventId, RecordedAttempt)> = None;
        for Id(event) in found {
            let failed = self.list_attempts(event, 1)?.pop().filter(|attempt| attempt.error.is_some());
            let is_later = |attempt: &RecordedAttempt| {
                last.as_ref().is_none_or(|(_, last)| attempt.started_at > last.started_at)
            };
            if let Some(failed) = failed.filter(is_later) {
                last = Some((event, failed));
            }
        }
        Ok(last)
    }

    fn company_of_event(&mut self, id: EventId) -> Result<Option<CompanyId>, StoreError> {
        self.find(into_id, |conn| events::table.find(Id(id)).select(events::company_id).get_result(conn))
    }

    fn database_bytes(&mut self) -> Result<i64, StoreError> {
        self.query(|conn| diesel::select(diesel::dsl::sql::<BigInt>(DATABASE_BYTES)).get_result(conn))
    }
}

impl Statistics for Unit<'_> {
    fn add_service_hour(&mut self, hour: &ServiceHour) -> Result<(), StoreError> {
        let columns =
            ["recognitions", "points", "requests", "client_errors", "server_errors", "duration_micros"]
                .as_slice();
        let query = upsert_sums("service_statistics", &["hour"], columns);
        self.execute(|conn| {
            diesel::sql_query(query)
                .bind::<Integer, _>(hour.hour)
                .bind::<BigInt, _>(hour.recognitions)
                .bind::<BigInt, _>(hour.points)
                .bind::<BigInt, _>(hour.requests)
                .bind::<BigInt, _>(hour.client_errors)
                .bind::<BigInt, _>(hour.server_errors)
                .bind::<BigInt, _>(hour.duration_micros)
                .execute(conn)
        })
    }

    fn add_provider_hour(&mut self, provider: ProviderId, hour: &ProviderHour) -> Result<(), StoreError> {
        let query = upsert_sums(
            "provider_statistics",
            &["provider_id", "hour"],
            &["delivered", "failed", "duration_micros"],
        );
        self.execute(|conn| {
            diesel::sql_query(query)
                .bind::<Identifier, _>(Id(provider))
                .bind::<Integer, _>(hour.hour)
                .bind::<BigInt, _>(hour.delivered)
                .bind::<BigInt, _>(hour.failed)
                .bind::<BigInt, _>(hour.duration_micros)
                .execute(conn)
        })
    }
}

/// The companies with their reserves, which are looked up one by one: `CROSS JOIN` keeps SQLite from reading
/// all accounts.
fn companies_with_reserves() -> String {
    let reserve = AccountKind::Reserve.code();
    format!("companies AS c CROSS JOIN accounts AS a WHERE a.owner_id = c.id AND a.kind = {reserve}")
}

/// The number of rows, up to a maximum.
fn bounded_count(rows: &str, count_max: i64) -> String {
    format!("(SELECT count(*) FROM (SELECT 1 FROM {rows} LIMIT {count_max}) AS found)")
}

/// A statement that adds to the row with a key, or inserts it.
pub(super) fn upsert_sums(table: &str, key: &[&str], columns: &[&str]) -> String {
    let all = key.iter().chain(columns).copied().collect::<Vec<_>>();
    let sums: Vec<String> =
        columns.iter().map(|column| format!("{column} = {table}.{column} + excluded.{column}")).collect();
    format!(
        "INSERT INTO {table} ({}) VALUES {} ON CONFLICT ({}) DO UPDATE SET {}",
        all.join(", "),
        row_placeholders(1, all.len()),
        key.join(", "),
        sums.join(", ")
    )
}
