//! Queues and delivers notifications.

use std::time::Duration;

use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Bool, Nullable, SmallInt};
use guerdon_domain::notifications::Channel;
use guerdon_domain::ports::{
    CLOCK_TOLERANCE, ClaimedNotifications, NewNotification, NotificationClaim, NotificationDeliveries,
    NotificationOutbox, NotificationOutcome, NotificationQuery, NotificationState, RETRIED_NOTIFICATION_DUE,
    ReadNotifications, StoreError, StoredNotification, Timestamp, UnsentNotificationCounts,
};
use guerdon_domain::values::ProviderId;
use uuid::Uuid;

use super::events::first_id_since;
use super::{BOUND_VALUES_MAX, Unit, into_id, lock_and_skip_locked, placeholder};
use crate::failpoint::failpoint;
use crate::rows::conditions::{GIVEN_UP, PENDING};
use crate::rows::schema::notifications;
use crate::rows::{
    DbTimestamp, DeclaredRow, Id, Identifier, NotificationRow, SqlTimestamp, StoredNotificationRow,
};
use crate::statement_chunks::split_into_statements;

/// The assumed maximum size of a notification in a statement.
const NOTIFICATION_BYTES_MAX: usize = 4_096;

impl Unit<'_> {
    /// The provider whose notifications are claimed next, if any is due.
    fn next_provider_to_notify(
        &mut self,
        claim: &NotificationClaim,
    ) -> Result<Option<ProviderId>, StoreError> {
        let due = match self.next_notification_due(claim.channel)? {
            Some(due) if due <= claim.now => due,
            _ => return Ok(None),
        };
        if due == RETRIED_NOTIFICATION_DUE {
            let retried = notifications::table
                .filter(notifications::channel.eq(claim.channel.code()).and(sql::<Bool>(PENDING)))
                .filter(notifications::next_attempt_at.eq(Some(DbTimestamp(due))))
                .select(notifications::provider_id)
                .limit(1);
            return self.find(into_id, |conn| retried.get_result(conn));
        }
        let is_due = format!(
            "SELECT id FROM providers WHERE (SELECT next_attempt_at FROM notifications \
             WHERE provider_id = providers.id AND channel = {} AND {PENDING} ORDER BY next_attempt_at LIMIT 1) <= ",
            claim.channel.code()
        );
        // The search starts again at the first provider after the last one.
        for after in [claim.after.map_or(Uuid::nil(), ProviderId::as_uuid), Uuid::nil()] {
            let next = sql::<Identifier>(&is_due)
                .bind::<SqlTimestamp, _>(DbTimestamp(claim.now))
                .sql(" AND id > ")
                .bind::<Identifier, _>(Id(after))
                .sql(" ORDER BY id LIMIT 1");
            let found = self.find(into_id, |conn| next.get_result(conn))?;
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }
}

impl NotificationOutbox for Unit<'_> {
    fn queue_notifications(&mut self, new: &[NewNotification]) -> Result<(), StoreError> {
        let rows_max = BOUND_VALUES_MAX / NotificationRow::COLUMNS;
        for slice in split_into_statements(new, rows_max, |_| NOTIFICATION_BYTES_MAX) {
            let rows: Vec<NotificationRow<'_>> =
                slice.iter().map(NotificationRow::from_new_notification).collect();
            self.execute(|conn| {
                failpoint("outbox.insert.notifications")?;
                diesel::insert_into(notifications::table).values(&rows).execute(conn)
            })?;
        }
        self.queued.notifications |= !new.is_empty();
        Ok(())
    }
}

impl ReadNotifications for Unit<'_> {
    fn list_notifications(
        &mut self,
        query: &NotificationQuery,
    ) -> Result<Vec<StoredNotification>, StoreError> {
        let of_channel = notifications::channel.eq(query.channel.code());
        let mut wanted =
            notifications::table.filter(of_channel).select(StoredNotificationRow::as_select()).into_boxed();
        if let Some(state) = query.state {
            wanted = wanted.filter(sql::<Bool>(&format!("state = {}", state.code())));
        }
        if let Some(since) = query.since {
            let first = Id(first_id_since(since));
            wanted = wanted.filter(notifications::id.ge(first));
            wanted = wanted.filter(notifications::created_at.ge(DbTimestamp(since)));
        }
        let wanted = wanted.order(notifications::id.desc()).limit(query.limit); // ids increase with time
        self.list(StoredNotificationRow::into_stored_notification, |conn| wanted.get_results(conn))
    }

    fn count_unsent_notifications(
        &mut self,
        channel: Channel,
    ) -> Result<UnsentNotificationCounts, StoreError> {
        self.query(super::disable_statement_timeout)?; // after a long outage, many are waiting
        let count = |state: &str| {
            format!("(SELECT count(*) FROM notifications WHERE channel = {} AND {state})", channel.code())
        };
        let counts = sql::<(BigInt, BigInt)>(&format!("{}, {}", count(PENDING), count(GIVEN_UP)));
        let (waiting, given_up) = self.query(|conn| diesel::select(counts).get_result(conn))?;
        Ok(UnsentNotificationCounts { waiting, given_up })
    }
}

impl NotificationDeliveries for Unit<'_> {
    fn retry_notification(&mut self, channel: Channel, id: Uuid) -> Result<bool, StoreError> {
        let which = || {
            let unclaimed = notifications::table.find(Id(id)).filter(notifications::lease_id.is_null());
            unclaimed.filter(notifications::channel.eq(channel.code()))
        };
        let due = || notifications::next_attempt_at.eq(Some(DbTimestamp(RETRIED_NOTIFICATION_DUE)));
        let waits = notifications::state.eq(NotificationState::Waiting.code());
        let reset = (waits, notifications::attempts.eq(0), due());
        let given_up = which().filter(notifications::state.eq(NotificationState::GivenUp.code()));
        let mut changed = self.query(|conn| diesel::update(given_up).set(reset).execute(conn))?;
        let waiting = which().filter(waits);
        changed += self.query(|conn| diesel::update(waiting).set(due()).execute(conn))?;
        self.queued.notifications |= changed > 0;
        Ok(changed > 0)
    }

    fn claim_notifications(
        &mut self,
        claim: &NotificationClaim,
    ) -> Result<Option<ClaimedNotifications>, StoreError> {
        let Some(provider) = self.next_provider_to_notify(claim)? else { return Ok(None) };
        let query = format!(
            "SELECT {} FROM notifications WHERE provider_id = {} AND channel = {} AND {PENDING} \
             AND next_attempt_at <= {} ORDER BY next_attempt_at, id LIMIT {}{}",
            StoredNotificationRow::COLUMN_NAMES,
            placeholder(1),
            placeholder(2),
            placeholder(3),
            placeholder(4),
            lock_and_skip_locked("notifications")
        );
        let rows: Vec<StoredNotificationRow> = self.query(|conn| {
            failpoint("notification.select")?;
            diesel::sql_query(query)
                .bind::<Identifier, _>(Id(provider))
                .bind::<SmallInt, _>(claim.channel.code())
                .bind::<SqlTimestamp, _>(DbTimestamp(claim.now))
                .bind::<BigInt, _>(i64::from(claim.limit))
                .get_results(conn)
        })?;
        let ids: Vec<Id> = rows.iter().map(|row| row.id).collect();
        if !ids.is_empty() {
            self.query(|conn| {
                failpoint("notification.lease")?;
                diesel::update(notifications::table.filter(notifications::id.eq_any(&ids)))
                    .set((
                        notifications::lease_id.eq(Some(Id(claim.lease))),
                        notifications::next_attempt_at.eq(Some(DbTimestamp(claim.lease_until))),
                    ))
                    .execute(conn)
            })?;
        }
        let mut notifications = Vec::with_capacity(rows.len());
        for row in rows {
            let id = row.id.0;
            match row.into_claimed_notification() {
                Ok(notification) => notifications.push(notification),
                // It stays claimed until the end of the lease. A newer version of the service may then read it.
                Err(cause) => {
                    log::error!(notification_id:% = id, cause:%; "cannot read a notification, retrying after its lease")
                }
            }
        }
        Ok(Some(ClaimedNotifications { provider, notifications }))
    }

    fn settle_notification(
        &mut self,
        id: Uuid,
        lease: Uuid,
        outcome: NotificationOutcome,
    ) -> Result<(), StoreError> {
        let (state, due) = match outcome {
            NotificationOutcome::Sent => (NotificationState::Sent, None),
            NotificationOutcome::RetryAt(at) | NotificationOutcome::Released(at) => {
                (NotificationState::Waiting, Some(DbTimestamp(at)))
            }
            NotificationOutcome::GivenUp => (NotificationState::GivenUp, None),
        };
        let attempts = i16::from(!matches!(outcome, NotificationOutcome::Released(_)));
        self.execute(|conn| {
            failpoint("notification.settle")?;
            diesel::update(notifications::table.find(Id(id)))
                .filter(notifications::lease_id.eq(Some(Id(lease))))
                .set((
                    notifications::state.eq(state.code()),
                    notifications::attempts.eq(notifications::attempts + attempts),
                    notifications::next_attempt_at.eq(due),
                    notifications::lease_id.eq(None::<Id>),
                ))
                .execute(conn)
        })
    }

    fn next_notification_due(&mut self, channel: Channel) -> Result<Option<Timestamp>, StoreError> {
        let due =
            sql::<Nullable<SqlTimestamp>>("SELECT min(next_attempt_at) FROM notifications WHERE channel = ")
                .bind::<SmallInt, _>(channel.code())
                .sql(&format!(" AND {PENDING}"));
        let due: Option<DbTimestamp> = self.query(|conn| due.get_result(conn))?;
        Ok(due.map(|due| due.0))
    }

    fn reschedule_notifications(
        &mut self,
        channel: Channel,
        now: Timestamp,
        retry_wait_max: Duration,
        lease: Duration,
    ) -> Result<usize, StoreError> {
        self.query(super::disable_statement_timeout)?;
        let later_than = |limit: Timestamp| {
            let latest = Some(DbTimestamp(limit + CLOCK_TOLERANCE));
            let pending = notifications::channel.eq(channel.code()).and(sql::<Bool>(PENDING));
            notifications::table.filter(pending).filter(notifications::next_attempt_at.gt(latest))
        };
        let due_at = |at: Timestamp| notifications::next_attempt_at.eq(Some(DbTimestamp(at)));
        let waiting = later_than(now + retry_wait_max).filter(notifications::lease_id.is_null());
        let mut changed = self.query(|conn| diesel::update(waiting).set(due_at(now)).execute(conn))?;
        let claimed = later_than(now + lease).filter(notifications::lease_id.is_not_null());
        changed += self.query(|conn| diesel::update(claimed).set(due_at(now + lease)).execute(conn))?;
        self.queued.notifications |= changed > 0;
        Ok(changed)
    }
}
