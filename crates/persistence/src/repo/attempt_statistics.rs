//! Durations in buckets, and the latest delivery attempts: of each provider, and of each event.

use std::collections::HashMap;

use diesel::prelude::*;
use diesel::sql_types::{BigInt, Integer, SmallInt};
use guerdon_domain::ports::{
    AttemptStatistics, DurationCounts, DurationSubject, LATEST_ATTEMPTS_MAX, LatestAttempts,
    ProviderAttempts, ReadAttemptStatistics, RecordedAttempt, StoreError,
};
use guerdon_domain::values::EventId;
use uuid::Uuid;

use super::{Unit, row_placeholders};
use crate::rows::schema::{attempts, deliveries, duration_statistics, latest_attempts};
use crate::rows::types::{DbTimestamp, Id, Identifier, SqlTimestamp};
use crate::rows::{ProviderAttemptsRow, RecordedAttemptRow};

/// The maximum number of rows of one statement.
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

impl ReadAttemptStatistics for Unit<'_> {
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

impl AttemptStatistics for Unit<'_> {
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
