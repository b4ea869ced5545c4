//! Implements the outbox on the domain's store.

use std::sync::Arc;
use std::time::Duration;

use guerdon_domain::notifications::Channel;
use guerdon_domain::ports::{NotificationClaim, NotificationOutcome, Store, StoreError, StoreExt, Timestamp};
use guerdon_domain::values::ProviderId;
use uuid::Uuid;

use crate::mail::Mail;
use crate::mail_store::{ClaimedMails, MailStore};

/// The outbox of emails in a store.
pub struct PersistentMailStore(Arc<dyn Store>);

impl PersistentMailStore {
    /// The outbox of `store`.
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self(store)
    }
}

impl MailStore for PersistentMailStore {
    fn claim_due_mails(
        &self,
        after: Option<ProviderId>,
        now: Timestamp,
        until: Timestamp,
        lease: Uuid,
        limit: u16,
    ) -> Result<Option<ClaimedMails>, StoreError> {
        let claim =
            NotificationClaim { channel: Channel::Mail, after, limit, now, lease_until: until, lease };
        let claimed = self.0.transaction(|tx| tx.claim_notifications(&claim))?;
        Ok(claimed.map(|claimed| ClaimedMails {
            provider: claimed.provider,
            mails: claimed.notifications.into_iter().map(Mail::from_notification).collect(),
        }))
    }

    fn record_outcome(&self, id: Uuid, lease: Uuid, outcome: NotificationOutcome) -> Result<(), StoreError> {
        self.0.transaction(|tx| tx.settle_notification(id, lease, outcome))
    }

    fn next_due(&self) -> Result<Option<Timestamp>, StoreError> {
        self.0.transaction(|tx| tx.next_notification_due(Channel::Mail))
    }

    fn reschedule_after_clock_change(
        &self,
        now: Timestamp,
        retry_wait_max: Duration,
        lease: Duration,
    ) -> Result<usize, StoreError> {
        self.0.transaction(|tx| tx.reschedule_notifications(Channel::Mail, now, retry_wait_max, lease))
    }
}
