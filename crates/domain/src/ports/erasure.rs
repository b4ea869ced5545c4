//! Erasing what is known of a deleted user from what is kept beside the ledger.

use super::StoreError;
use crate::values::{CompanyId, EmailAddress, EventId, Timestamp, UserId};

pub trait ReadErasure {
    /// The events that tell of a user and stand behind an id, in the order of their ids; at most `limit`.
    fn events_about(
        &mut self,
        user: UserId,
        behind: Option<EventId>,
        limit: i64,
    ) -> Result<Vec<EventId>, StoreError>;
}

pub trait Erasure {
    /// The bodies of those of these events that are kept.
    fn bodies(&mut self, of: &[EventId]) -> Result<Vec<(EventId, Vec<u8>)>, StoreError>;

    /// Puts a body in the place of another, and nothing in that of what receivers answered to it.
    fn replace_body(&mut self, id: EventId, body: &[u8]) -> Result<(), StoreError>;

    /// Deletes the mails of a company to an address that were written up to a moment; answers how many.
    fn delete_mails_to(
        &mut self,
        company: CompanyId,
        recipient: &EmailAddress,
        until: Timestamp,
    ) -> Result<usize, StoreError>;
}
