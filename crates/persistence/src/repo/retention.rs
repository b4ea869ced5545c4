//! Deletes data past its retention, in small steps.

use std::time::Duration;

use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::{Bool, Integer};
use guerdon_domain::events::EventState;
use guerdon_domain::ports::{Retention, StoreError, Timestamp, days_since_epoch, hours_since_epoch};
use guerdon_domain::values::{CompanyId, EventId};

use super::events::first_id_since;
use super::{Unit, create_event_partitions, drop_expired_event_partition, end_of_row_deletion, placeholder};
use crate::rows::conditions::SENT;
use crate::rows::schema::{
    attempts, deliveries, events, notifications, occasion_statistics, service_statistics,
};
use crate::rows::{DbTimestamp, Id};

/// The retention of the hourly statistics.
const STATISTICS_RETENTION_HOURS: i32 = 24 * 100;
/// The retention of the daily statistics of occasions. Those of a company are never deleted.
const STATISTICS_RETENTION_DAYS: i32 = 400;

impl Retention for Unit<'_> {
    fn create_event_partitions(
        &mut self,
        now: Timestamp,
        retention: Option<Duration>,
    ) -> Result<usize, StoreError> {
        self.query(|conn| create_event_partitions(conn, now, retention))
    }

    fn drop_expired_event_partition(&mut self, before: Timestamp) -> Result<bool, StoreError> {
        let end = EventId::from_uuid(first_id_since(before));
        self.query(|conn| drop_expired_event_partition(conn, end))
    }

    fn prune_events(
        &mut self,
        before: Timestamp,
        after: Option<EventId>,
        limit: i64,
    ) -> Result<(usize, Option<EventId>), StoreError> {
        let after = after.unwrap_or_else(|| EventId::from_uuid(uuid::Uuid::nil()));
        // Ids increase with time, so the scan ends before the first event that may be too young.
        let end = EventId::from_uuid(first_id_since(before));
        let end = self.query(|conn| end_of_row_deletion(conn, end))?;
        let seen: Vec<(Id<EventId>, i16)> = self.query(|conn| {
            deliveries::table
                .filter(deliveries::event_id.gt(Id(after)).and(deliveries::event_id.lt(Id(end))))
                .order(deliveries::event_id)
                .limit(limit)
                .select((deliveries::event_id, deliveries::state))
                .get_results(conn)
        })?;
        let delivered =
            seen.iter().filter(|(_, state)| *state == EventState::Delivered.code()).map(|(id, _)| *id);
        let deleted = self.delete_delivered(&delivered.collect::<Vec<_>>(), before)?;
        Ok((deleted, seen.last().map(|(id, _)| id.0)))
    }

    fn prune_notifications(&mut self, before: Timestamp, limit: i64) -> Result<usize, StoreError> {
        let old: Vec<Id> = self.query(|conn| {
            notifications::table
                .filter(sql::<Bool>(SENT).and(notifications::created_at.lt(DbTimestamp(before))))
                .filter(notifications::id.lt(Id(first_id_since(before)))) // ids increase with time
                .order(notifications::id)
                .limit(limit)
                .select(notifications::id)
                .get_results(conn)
        })?;
        if old.is_empty() {
            return Ok(0);
        }
        self.query(|conn| {
            diesel::delete(notifications::table.filter(notifications::id.eq_any(&old))).execute(conn)
        })
    }

    fn prune_statistics(&mut self, now: Timestamp, limit: i64) -> Result<usize, StoreError> {
        let hour = hours_since_epoch(now) - STATISTICS_RETENTION_HOURS;
        let day = days_since_epoch(now) - STATISTICS_RETENTION_DAYS;
        let mut deleted = self.query(|conn| {
            diesel::delete(service_statistics::table.filter(service_statistics::hour.lt(hour))).execute(conn)
        })?;
        for table in ["provider_statistics", "duration_statistics"] {
            let delete_first_hour = format!(
                "DELETE FROM {table} WHERE hour = (SELECT min(hour) FROM {table} WHERE hour < {})",
                placeholder(1)
            );
            deleted += self
                .query(|conn| diesel::sql_query(delete_first_hour).bind::<Integer, _>(hour).execute(conn))?;
        }
        Ok(deleted + self.prune_occasion_statistics(day, limit)?)
    }
}

impl Unit<'_> {
    /// Deletes those of the given delivered events that were created before a time. Returns the number of
    /// deleted events.
    fn delete_delivered(&mut self, ids: &[Id<EventId>], before: Timestamp) -> Result<usize, StoreError> {
        if ids.is_empty() {
            return Ok(0);
        }
        let position_to_keep = self.query(super::last_event_position_to_keep)?.unwrap_or(i64::MIN);
        let old: Vec<Id<EventId>> = self.query(|conn| {
            events::table
                .filter(events::id.eq_any(ids).and(events::created_at.lt(DbTimestamp(before))))
                .filter(events::position.ne(position_to_keep))
                .select(events::id)
                .get_results(conn)
        })?;
        if old.is_empty() {
            return Ok(0);
        }
        // Lock them first: an event that is being replayed must either stay, or not be found by the replay.
        let delivered = EventState::Delivered.code();
        let old: Vec<Id<EventId>> = self.query(|conn| {
            diesel::update(deliveries::table)
                .filter(deliveries::event_id.eq_any(&old).and(deliveries::state.eq(delivered)))
                .set(deliveries::state.eq(delivered))
                .returning(deliveries::event_id)
                .get_results(conn)
        })?;
        self.query(|conn| diesel::delete(events::table.filter(events::id.eq_any(&old))).execute(conn))?;
        self.query(|conn| {
            diesel::delete(deliveries::table.filter(deliveries::event_id.eq_any(&old))).execute(conn)
        })?;
        self.query(|conn| {
            diesel::delete(attempts::table.filter(attempts::event_id.eq_any(&old))).execute(conn)
        })?;
        Ok(old.len())
    }

    /// Deletes occasion statistics of the oldest stored day before `day`. Of this day, deletes all rows of the
    /// companies to which its first `limit` rows belong. Returns the number of deleted rows.
    fn prune_occasion_statistics(&mut self, day: i32, limit: i64) -> Result<usize, StoreError> {
        let old = occasion_statistics::table
            .filter(occasion_statistics::day.gt(0).and(occasion_statistics::day.lt(day)));
        let first: Option<i32> =
            self.query(|conn| old.select(diesel::dsl::min(occasion_statistics::day)).get_result(conn))?;
        let Some(first) = first else { return Ok(0) };
        let of_day = occasion_statistics::table.filter(occasion_statistics::day.eq(first));
        let companies: Vec<Id<CompanyId>> = self.query(|conn| {
            of_day
                .order(occasion_statistics::company_id)
                .limit(limit)
                .select(occasion_statistics::company_id)
                .get_results(conn)
        })?;
        let Some(last) = companies.last() else { return Ok(0) };
        let some = of_day.filter(occasion_statistics::company_id.le(last));
        self.query(|conn| diesel::delete(some).execute(conn))
    }
}
