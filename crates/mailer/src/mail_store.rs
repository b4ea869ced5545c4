//! The interface of the outbox that the mailer reads.

use std::time::Duration;

use guerdon_domain::ports::{NotificationOutcome, StoreError, Timestamp};
use guerdon_domain::values::ProviderId;
use uuid::Uuid;

use crate::mail::Mail;

/// The emails of one provider that were claimed together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimedMails {
    pub provider: ProviderId,
    pub mails: Vec<Mail>,
}

/// The outbox of emails. Each call is one durable transaction.
pub trait MailStore: Send + Sync {
    /// Claims up to `limit` emails of one provider that are due at `now`: of one with a retried email, or else of the
    /// next provider after `after`. The claim ends at `until`. Returns `None` if no email is due.
    fn claim_due_mails(
        &self,
        after: Option<ProviderId>,
        now: Timestamp,
        until: Timestamp,
        lease: Uuid,
        limit: u16,
    ) -> Result<Option<ClaimedMails>, StoreError>;

    /// Stores the outcome of an email if its lease is still `lease`. A repeated call changes nothing.
    fn record_outcome(&self, id: Uuid, lease: Uuid, outcome: NotificationOutcome) -> Result<(), StoreError>;

    /// When the next email is due. A claimed email is due at the end of its claim.
    fn next_due(&self) -> Result<Option<Timestamp>, StoreError>;

    /// Reschedules emails that are due much later than `retry_wait_max`, or whose claim ends much later than `lease`,
    /// from `now`, because the clock was set back. Returns their number.
    fn reschedule_after_clock_change(
        &self,
        now: Timestamp,
        retry_wait_max: Duration,
        lease: Duration,
    ) -> Result<usize, StoreError>;
}
