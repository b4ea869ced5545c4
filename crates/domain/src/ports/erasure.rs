//! Erases a deleted user's personal data from events and notifications.

use super::StoreError;
use crate::values::{CompanyId, EmailAddress, EventId, Timestamp, UserId};

pub trait ReadErasure {
    /// The events about a user with ids greater than `after`, sorted by id; at most `limit`.
    fn list_events_about_user(
        &mut self,
        user: UserId,
        after: Option<EventId>,
        limit: i64,
    ) -> Result<Vec<EventId>, StoreError>;
}

pub trait Erasure {
    /// Locks the events with these ids until the transaction ends, and returns their bodies. Events that no longer
    /// exist are left out.
    fn lock_event_bodies(&mut self, ids: &[EventId]) -> Result<Vec<(EventId, Vec<u8>)>, StoreError>;

    /// Replaces the body of an event.
    fn replace_event_body(&mut self, id: EventId, body: &[u8]) -> Result<(), StoreError>;

    /// Clears the stored responses of receivers to these events.
    fn clear_responses(&mut self, ids: &[EventId]) -> Result<(), StoreError>;

    /// Deletes a company's notifications to an address that were queued up to a time. Returns the number of deleted
    /// notifications.
    fn delete_notifications_to(
        &mut self,
        company: CompanyId,
        recipient: &EmailAddress,
        until: Timestamp,
    ) -> Result<usize, StoreError>;
}
