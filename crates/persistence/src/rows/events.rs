//! Events.

use diesel::prelude::*;
use guerdon_domain::events::EventKind;
use guerdon_domain::ports::{NewEvent, QueuedEvent, StoreError};
use guerdon_domain::values::{CompanyId, EventId, JournalEntryId, ProviderId};
use ring::digest::{SHA256, digest};

use super::deliveries::DeliveryStateRow;
use super::schema::events;
use super::{DbTimestamp, Id, RowReader, declare_row};

declare_row! {
    #[derive(Insertable)]
    struct EventRow<'a> in events {
        id: Id<EventId>,
        company_id: Id<CompanyId>,
        provider_id: Id<ProviderId>,
        kind: i16,
        journal_entry_id: Id<JournalEntryId>,
        body: &'a [u8],
        created_at: DbTimestamp,
    }
}

impl<'a> EventRow<'a> {
    pub(crate) fn from_event(event: &'a NewEvent) -> Self {
        Self {
            id: Id(event.id),
            company_id: Id(event.company_id),
            provider_id: Id(event.provider_id),
            kind: event.kind.code(),
            journal_entry_id: Id(event.entry_id),
            body: &event.body,
            created_at: DbTimestamp(event.created_at),
        }
    }
}

/// An event with its body, as an audit reads it.
#[derive(Queryable, Selectable)]
#[diesel(table_name = events)]
pub(crate) struct StoredEventRow {
    pub(crate) id: Id<EventId>,
    pub(crate) kind: i16,
    pub(crate) body: Vec<u8>,
    /// The digest of the body before data of a deleted person was erased from it.
    pub(crate) original_digest: Option<Vec<u8>>,
}

impl StoredEventRow {
    /// The digest of the body as it was written.
    pub(crate) fn into_original_digest(self) -> Vec<u8> {
        self.original_digest.unwrap_or_else(|| digest(&SHA256, &self.body).as_ref().to_vec())
    }
}

/// An event without its delivery state.
#[derive(Queryable, Selectable)]
#[diesel(table_name = events)]
pub(crate) struct QueuedEventRow {
    id: Id<EventId>,
    provider_id: Id<ProviderId>,
    kind: i16,
    created_at: DbTimestamp,
}

impl QueuedEventRow {
    pub(crate) fn into_queued_event(self, delivery: DeliveryStateRow) -> Result<QueuedEvent, StoreError> {
        let reader = RowReader { table: "events", id: &self.id.0 };
        let delivery_reader = RowReader { table: "deliveries", id: &self.id.0 };
        Ok(QueuedEvent {
            id: self.id.0,
            provider_id: self.provider_id.0,
            kind: reader.require_valid("kind", EventKind::from_code(self.kind))?,
            state: delivery_reader.require_valid("state", delivery.to_state())?,
            attempts: delivery_reader.require_valid("attempts", u32::try_from(delivery.attempts).ok())?,
            next_attempt_at: delivery.next_attempt_at.map(|next_attempt_at| next_attempt_at.0),
            created_at: self.created_at.0,
        })
    }
}
