//! Statistics for the operator's console: counts by hour and day, durations, and the latest attempts of deliveries.

use std::collections::HashMap;

use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Bool, Integer, SmallInt, Text};
use guerdon_domain::notifications::Channel;
use guerdon_domain::ports::ReadOutbox as _;
use guerdon_domain::ports::{
    CompanyDay, CompanySummary, DurationCounts, DurationSubject, LATEST_ATTEMPTS_MAX, LatestAttempts,
    OccasionUsage, ProviderAttempts, ProviderHour, ReadStatistics, RecordedAttempt, ServiceHour, Statistics,
    StoreError, UndeliveredCounts,
};
use guerdon_domain::values::{CompanyId, EventId, OccasionId, ProviderId};
use guerdon_domain::wallets::AccountKind;
use uuid::Uuid;

use super::{DATABASE_BYTES, Unit, id_literal, into_id, placeholder, row_placeholders};
use crate::rows::conditions::{EXHAUSTED, PENDING, SENT, UNADDRESSED};
use crate::rows::schema::{
    attempts, company_statistics, deliveries, duration_statistics, events, latest_attempts,
    service_statistics,
};
use crate::rows::{
    CompanyDayRow, CompanySummaryRow, DbTimestamp, Id, Identifier, ProviderAttemptsRow, RecordedAttemptRow,
    ServiceHourRow, SqlTimestamp,
};

/// The maximum number of events that are read to find the latest attempt.
const SCANNED_EVENTS_MAX: i64 = 20;

/// The maximum number of rows of an INSERT of durations or of latest attempts.
const ROWS_PER_STATEMENT: usize = 60;
/// The number of bound values of a row.
const VALUES_PER_ROW: usize = 4;

/// The id under which the durations of a subject are stored.
fn subject_id(subject: DurationSubject) -> Id {
    Id(match subject {
        DurationSubject::Requests => Uuid::nil(),
        DurationSubject::Deliveries(provider) => provider.as_uuid(),
    })
}

impl ReadStatistics for Unit<'_> {
    fn service_hours(&mut self, from: i32) -> Result<Vec<ServiceHour>, StoreError> {
        let convert = |row: ServiceHourRow| Ok(row.into_service_hour());
        self.list(convert, |conn| {
            service_statistics::table
                .select(ServiceHourRow::as_select())
                .filter(service_statistics::hour.ge(from))
                .order(service_statistics::hour)
                .get_results(conn)
        })
    }

    fn provider_hours(
        &mut self,
        provider: Option<ProviderId>,
        from: i32,
    ) -> Result<Vec<ProviderHour>, StoreError> {
        let query = sql::<(Integer, BigInt, BigInt, BigInt)>(
            "SELECT hour, CAST(SUM(delivered) AS bigint), CAST(SUM(failed) AS bigint), CAST(SUM(duration_micros) AS bigint) \
             FROM provider_statistics WHERE hour >= ",
        )
        .bind::<Integer, _>(from)
        .sql(&format!(" AND {} GROUP BY hour ORDER BY hour", of_provider(provider)));
        let convert = |(hour, delivered, failed, duration_micros)| {
            Ok(ProviderHour { hour, delivered, failed, duration_micros })
        };
        self.list(convert, |conn| query.get_results(conn))
    }

    fn company_days(&mut self, company: CompanyId, from: i32) -> Result<Vec<CompanyDay>, StoreError> {
        let convert = |row: CompanyDayRow| Ok(row.into_company_day());
        self.list(convert, |conn| {
            company_statistics::table
                .filter(company_statistics::company_id.eq(Id(company)))
                .filter(company_statistics::day.ge(from).or(company_statistics::day.eq(0)))
                .order(company_statistics::day)
                .select(CompanyDayRow::as_select())
                .get_results(conn)
        })
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
        let query = sql::<(Identifier, Text, BigInt, BigInt)>(
            "SELECT o.id, o.name, f.recognitions, f.points FROM (SELECT occasion_id, \
             CAST(SUM(recognitions) AS bigint) AS recognitions, CAST(SUM(points) AS bigint) AS points \
             FROM occasion_statistics WHERE company_id = ",
        )
        .bind::<Identifier, _>(Id(company))
        .sql(" AND day >= ")
        .bind::<Integer, _>(since_day)
        .sql(
            " GROUP BY occasion_id) AS f JOIN occasions AS o ON o.id = f.occasion_id \
             ORDER BY f.recognitions DESC, o.name LIMIT ",
        )
        .bind::<BigInt, _>(limit);
        let convert = |(id, name, recognitions, points): (Id<OccasionId>, String, i64, i64)| {
            Ok(OccasionUsage { id: id.0, name, recognitions, points })
        };
        self.list(convert, |conn| query.get_results(conn))
    }

    fn count_undelivered_events(
        &mut self,
        provider: Option<ProviderId>,
        count_max: i64,
    ) -> Result<UndeliveredCounts, StoreError> {
        let of = of_provider(provider);
        let count =
            |state| sql::<BigInt>(&bounded_count(&format!("deliveries WHERE {of} AND {state}"), count_max));
        let counts = diesel::select((count(PENDING), count(EXHAUSTED), count(UNADDRESSED)));
        let (pending, exhausted, unaddressed) = self.query(|conn| counts.get_result(conn))?;
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

    fn duration_hours(
        &mut self,
        subject: DurationSubject,
        from: i32,
    ) -> Result<Vec<(i32, DurationCounts)>, StoreError> {
        let rows: Vec<(i32, i16, i64)> = self.query(|conn| {
            duration_statistics::table
                .filter(duration_statistics::subject_id.eq(subject_id(subject)))
                .filter(duration_statistics::hour.ge(from))
                .order((duration_statistics::hour, duration_statistics::bucket))
                .select((duration_statistics::hour, duration_statistics::bucket, duration_statistics::number))
                .get_results(conn)
        })?;
        let mut hours: Vec<(i32, DurationCounts)> = Vec::new();
        for (hour, bucket, number) in rows {
            if hours.last().is_none_or(|last| last.0 != hour) {
                hours.push((hour, DurationCounts::default()));
            }
            if let (Some((_, counts)), Ok(bucket)) = (hours.last_mut(), usize::try_from(bucket)) {
                counts.add(bucket, number);
            }
        }
        Ok(hours)
    }

    fn list_provider_attempts(&mut self) -> Result<Vec<ProviderAttempts>, StoreError> {
        self.list(ProviderAttemptsRow::into_provider_attempts, |conn| {
            latest_attempts::table.select(ProviderAttemptsRow::as_select()).get_results(conn)
        })
    }

    /// The latest attempt is the one whose number equals the stored number of attempts of the delivery.
    fn latest_attempts_of_events(
        &mut self,
        events: &[EventId],
    ) -> Result<HashMap<EventId, RecordedAttempt>, StoreError> {
        let ids: Vec<Id<EventId>> = events.iter().map(|id| Id(*id)).collect();
        let of_delivery =
            attempts::event_id.eq(deliveries::event_id).and(attempts::number.eq(deliveries::attempts));
        let convert = |(id, row): (Id<EventId>, RecordedAttemptRow)| Ok((id.0, row.into_recorded_attempt()?));
        let found = self.list(convert, |conn| {
            deliveries::table
                .inner_join(attempts::table.on(of_delivery))
                .filter(deliveries::event_id.eq_any(&ids))
                .select((deliveries::event_id, RecordedAttemptRow::as_select()))
                .get_results(conn)
        })?;
        Ok(found.into_iter().collect())
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

    fn add_durations(
        &mut self,
        hour: i32,
        durations: &[(DurationSubject, DurationCounts)],
    ) -> Result<(), StoreError> {
        let rows: Vec<(Id, i16, i64)> = durations
            .iter()
            .flat_map(|(subject, counts)| {
                let of_subject =
                    |(bucket, number)| Some((subject_id(*subject), i16::try_from(bucket).ok()?, number));
                counts.nonzero_buckets().filter_map(of_subject)
            })
            .collect();
        for slice in rows.chunks(ROWS_PER_STATEMENT) {
            let query = format!(
                "INSERT INTO duration_statistics (subject_id, hour, bucket, number) VALUES {} \
                 ON CONFLICT (subject_id, hour, bucket) DO UPDATE SET number = duration_statistics.number + excluded.number",
                row_placeholders(slice.len(), VALUES_PER_ROW)
            );
            let insert =
                slice.iter().fold(diesel::sql_query(query).into_boxed(), |insert, (id, bucket, number)| {
                    insert
                        .bind::<Identifier, _>(*id)
                        .bind::<Integer, _>(hour)
                        .bind::<SmallInt, _>(*bucket)
                        .bind::<BigInt, _>(*number)
                });
            self.query(|conn| insert.execute(conn))?;
        }
        Ok(())
    }

    /// Shifts the stored results by the number of new attempts, and adds the results of the new ones.
    fn add_provider_attempts(&mut self, added: &[ProviderAttempts]) -> Result<(), StoreError> {
        for slice in added.chunks(ROWS_PER_STATEMENT) {
            let query = format!(
                "INSERT INTO latest_attempts (provider_id, results, attempts, ended_at) VALUES {} \
                 ON CONFLICT (provider_id) DO UPDATE SET \
                 results = ((latest_attempts.results << excluded.attempts) | excluded.results) & {}, \
                 attempts = CASE WHEN latest_attempts.attempts + excluded.attempts > {max} THEN {max} \
                 ELSE latest_attempts.attempts + excluded.attempts END, \
                 ended_at = excluded.ended_at",
                row_placeholders(slice.len(), VALUES_PER_ROW),
                LatestAttempts::MASK,
                max = LATEST_ATTEMPTS_MAX
            );
            let insert = slice.iter().fold(diesel::sql_query(query).into_boxed(), |insert, added| {
                insert
                    .bind::<Identifier, _>(Id(added.provider))
                    .bind::<BigInt, _>(i64::from(added.latest.results()))
                    .bind::<Integer, _>(i32::try_from(added.latest.attempts()).unwrap_or(0))
                    .bind::<SqlTimestamp, _>(DbTimestamp(added.ended_at))
            });
            self.query(|conn| insert.execute(conn))?;
        }
        Ok(())
    }
}

/// The companies with their reserves, which are looked up one by one: `CROSS JOIN` keeps SQLite from reading
/// all accounts.
fn companies_with_reserves() -> String {
    let reserve = AccountKind::Reserve.code();
    format!("companies AS c CROSS JOIN accounts AS a WHERE a.owner_id = c.id AND a.kind = {reserve}")
}

/// The condition that a row belongs to a provider, or to any.
fn of_provider(provider: Option<ProviderId>) -> String {
    provider.map_or_else(|| "TRUE".to_owned(), |id| format!("provider_id = {}", id_literal(id.as_uuid())))
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
