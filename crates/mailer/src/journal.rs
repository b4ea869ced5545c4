//! What the mailer needs of the outbox.

use guerdon_domain::ports::{ClaimedMail, MailFate, StoreError, Timestamp};
use uuid::Uuid;

/// The outbox of mails, one durable transaction a call.
pub trait MailJournal: Send + Sync {
    /// Claims up to `limit` mails due at `now`, until `until`.
    fn claim(
        &self,
        now: Timestamp,
        until: Timestamp,
        lease: Uuid,
        limit: u16,
    ) -> Result<Vec<ClaimedMail>, StoreError>;

    /// Writes the fate of a mail whose lease is still the one shown. Doing it again changes nothing.
    fn settle(&self, id: Uuid, lease: Uuid, fate: MailFate) -> Result<(), StoreError>;

    /// When the next mail is due, leases counted until their end.
    fn next_due(&self) -> Result<Option<Timestamp>, StoreError>;
}
