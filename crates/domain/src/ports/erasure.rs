//! Erases a deleted user's personal data from events and mails.

use super::StoreError;
use crate::values::{CompanyId, EmailAddress, EventId, Timestamp, UserId};

pub trait ReadErasure {
    /// The events about a user with ids greater than `after`, in the order of their ids; at most `limit`.
    fn events_about(
        &mut self,
        user: UserId,
        behind: Option<EventId>,
        limit: i64,
    ) -> Result<Vec<EventId>, StoreError>;
}

pub trait Erasure {
    /// The bodies of those of the events that still exist.
    fn bodies(&mut self, of: &[EventId]) -> Result<Vec<(EventId, Vec<u8>)>, StoreError>;

    /// Replaces the body of an event, and clears the stored responses of its receivers.
    fn replace_body(&mut self, id: EventId, body: &[u8]) -> Result<(), StoreError>;

    /// Deletes the mails of a company to an address that were written up to a time. Returns their number.
    fn delete_mails_to(
        &mut self,
        company: CompanyId,
        recipient: &EmailAddress,
        until: Timestamp,
    ) -> Result<usize, StoreError>;
}
