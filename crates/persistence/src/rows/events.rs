//! Events.

use diesel::prelude::*;
use guerdon_domain::events::{EventKind, EventState};
use guerdon_domain::ports::{NewEvent, QueuedEvent, StoreError};
use guerdon_domain::values::{CompanyId, EventId, JournalEntryId, ProviderId};
use ring::digest::{SHA256, digest};

use super::Reading;
use super::columns::row;
use super::deliveries::FareRow;
use super::schema::events;
use super::types::{At, Id};

row! {
    #[derive(Insertable)]
    struct EventRow<'a> in events {
        id: Id<EventId>,
        company_id: Id<CompanyId>,
        provider_id: Id<ProviderId>,
        kind: i16,
        journal_entry_id: Id<JournalEntryId>,
        body: &'a [u8],
        created_at: At,
    }
}

impl<'a> EventRow<'a> {
    pub(crate) fn of(it: &'a NewEvent) -> Self {
        Self {
            id: Id(it.id),
            company_id: Id(it.company_id),
            provider_id: Id(it.provider_id),
            kind: it.kind.code(),
            journal_entry_id: Id(it.cause),
            body: &it.body,
            created_at: At(it.created_at),
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
    pub(crate) fn digest(self) -> Vec<u8> {
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
    created_at: At,
}

impl QueuedEventRow {
    pub(crate) fn read(self, fare: FareRow) -> Result<QueuedEvent, StoreError> {
        let reading = Reading { table: "events", id: &self.id.0 };
        let faring = Reading { table: "deliveries", id: &self.id.0 };
        Ok(QueuedEvent {
            id: self.id.0,
            provider_id: self.provider_id.0,
            kind: reading.make("kind", EventKind::from_code(self.kind))?,
            state: faring.make("state", EventState::from_code(fare.state))?,
            attempts: faring.make("attempts", u32::try_from(fare.attempts).ok())?,
            next_attempt_at: fare.next_attempt_at.map(|next_attempt_at| next_attempt_at.0),
            created_at: self.created_at.0,
        })
    }
}
