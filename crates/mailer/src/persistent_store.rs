//! Implements the outbox on the domain's store.

use std::sync::Arc;

use guerdon_domain::ports::{ClaimedMail, MailOutcome, Store, StoreError, StoreExt, Timestamp};
use uuid::Uuid;

use crate::mail_store::MailStore;

/// The outbox of mails in a store.
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
        now: Timestamp,
        until: Timestamp,
        lease: Uuid,
        limit: u16,
    ) -> Result<Vec<ClaimedMail>, StoreError> {
        self.0.transaction(|tx| tx.claim_mails(now, until, lease, limit))
    }

    fn record_outcome(&self, id: Uuid, lease: Uuid, outcome: MailOutcome) -> Result<(), StoreError> {
        self.0.transaction(|tx| tx.settle_mail(id, lease, outcome))
    }

    fn next_due(&self) -> Result<Option<Timestamp>, StoreError> {
        self.0.transaction(|tx| tx.next_mail_due())
    }
}
