//! Erases a deleted user's personal data from events and notifications.

use diesel::prelude::*;
use diesel::sql_types::{BigInt, Bool};
use guerdon_domain::ports::{Erasure, ReadErasure, StoreError, Timestamp};
use guerdon_domain::values::{CompanyId, EmailAddress, EventId, UserId};
use ring::digest::{SHA256, digest};

use super::{BOUND_VALUES_MAX, Unit, lock_events, placeholder};
use crate::rows::conditions::IS_AMENDMENT;
use crate::rows::schema::{attempts, events, notifications};
use crate::rows::{DbTimestamp, Id, Identifier, kind};

#[derive(QueryableByName)]
struct EventIdRow {
    #[diesel(sql_type = Identifier)]
    id: Id<EventId>,
}

/// Selects the events of the recognitions that the user sent or received, of their amendments, and of the
/// user's redemptions.
fn events_about_user_query() -> String {
    let (user, after, limit) = (placeholder(1), placeholder(2), placeholder(3));
    format!(
        "WITH about_user AS (SELECT id FROM recognitions WHERE receiver_id = {user} UNION ALL \
         SELECT r.id FROM journal_entries AS j JOIN recognitions AS r ON r.journal_entry_id = j.id \
         WHERE j.subject_id = {user} AND j.kind = {}) \
         SELECT e.id FROM events AS e JOIN (SELECT id FROM about_user UNION \
         SELECT amendment.id FROM about_user AS r JOIN journal_entries AS amendment \
         ON amendment.subject_id = r.id AND amendment.{IS_AMENDMENT} UNION \
         SELECT journal_entry_id FROM transfers WHERE debit_owner = {user} AND debit_kind = 1) AS found ON found.id = e.id \
         WHERE e.id > {after} ORDER BY e.id LIMIT {limit}",
        kind::RECOGNITION
    )
}

impl ReadErasure for Unit<'_> {
    fn list_events_about_user(
        &mut self,
        user: UserId,
        after: Option<EventId>,
        limit: i64,
    ) -> Result<Vec<EventId>, StoreError> {
        self.query(super::disable_statement_timeout)?;
        let after = after.unwrap_or_else(|| EventId::from_uuid(uuid::Uuid::nil()));
        let convert = |row: EventIdRow| Ok(row.id.0);
        self.list(convert, |conn| {
            diesel::sql_query(events_about_user_query())
                .bind::<Identifier, _>(Id(user))
                .bind::<Identifier, _>(Id(after))
                .bind::<BigInt, _>(limit)
                .get_results(conn)
        })
    }
}

impl Erasure for Unit<'_> {
    fn lock_event_bodies(&mut self, events: &[EventId]) -> Result<Vec<(EventId, Vec<u8>)>, StoreError> {
        let events: Vec<Id<EventId>> = events.iter().copied().map(Id).collect();
        self.query(|conn| lock_events(conn, &events))?;
        let rows: Vec<(Id<EventId>, Vec<u8>)> = self.query(|conn| {
            events::table
                .filter(events::id.eq_any(&events))
                .select((events::id, events::body))
                .get_results(conn)
        })?;
        Ok(rows.into_iter().map(|(id, body)| (id.0, body)).collect())
    }

    fn replace_event_body(&mut self, id: EventId, body: &[u8]) -> Result<(), StoreError> {
        let stored: Option<(Vec<u8>, Option<Vec<u8>>)> = self.query(|conn| {
            let event = events::table.find(Id(id));
            event.select((events::body, events::original_digest)).get_result(conn).optional()
        })?;
        let Some((before, original)) = stored else { return Ok(()) }; // deleted after its retention period
        let original = original.unwrap_or_else(|| digest(&SHA256, &before).as_ref().to_vec());
        self.execute(|conn| {
            diesel::update(events::table.find(Id(id)))
                .set((events::body.eq(body), events::original_digest.eq(Some(original))))
                .execute(conn)
        })
    }

    fn clear_responses(&mut self, ids: &[EventId]) -> Result<(), StoreError> {
        let ids: Vec<Id<EventId>> = ids.iter().copied().map(Id).collect();
        let has_response = diesel::dsl::sql::<Bool>("(length(response) > 0 OR response_headers IS NOT NULL)");
        let responses = attempts::table.filter(attempts::event_id.eq_any(ids)).filter(has_response);
        self.execute(|conn| {
            diesel::update(responses)
                .set((attempts::response.eq(&[0_u8; 0][..]), attempts::response_headers.eq(None::<String>)))
                .execute(conn)
        })
    }

    fn delete_notifications_to(
        &mut self,
        company: CompanyId,
        recipient: &EmailAddress,
        until: Timestamp,
    ) -> Result<usize, StoreError> {
        let to: Vec<(Id, String)> = self.query(|conn| {
            notifications::table
                .filter(
                    notifications::company_id
                        .eq(Id(company))
                        .and(notifications::created_at.le(DbTimestamp(until))),
                )
                .select((notifications::id, notifications::recipient))
                .get_results(conn)
        })?;
        let to = to
            .into_iter()
            .filter(|(_, address)| address.to_lowercase() == recipient.folded())
            .map(|(id, _)| id);
        let to: Vec<Id> = to.collect();
        let mut deleted = 0;
        for slice in to.chunks(BOUND_VALUES_MAX) {
            deleted += self.query(|conn| {
                diesel::delete(notifications::table.filter(notifications::id.eq_any(slice))).execute(conn)
            })?;
        }
        Ok(deleted)
    }
}
