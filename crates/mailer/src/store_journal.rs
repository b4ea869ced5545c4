//! Implements the outbox on the domain's store.

use std::sync::Arc;

use guerdon_domain::ports::{ClaimedMail, MailFate, Store, StoreError, StoreExt, Timestamp};
use uuid::Uuid;

use crate::journal::MailJournal;

/// The outbox of mails in a store.
pub struct StoreMailJournal(Arc<dyn Store>);

impl StoreMailJournal {
    /// The outbox of `store`.
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self(store)
    }
}

impl MailJournal for StoreMailJournal {
    fn claim(
        &self,
        now: Timestamp,
        until: Timestamp,
        lease: Uuid,
        limit: u16,
    ) -> Result<Vec<ClaimedMail>, StoreError> {
        self.0.transaction(|tx| tx.claim_mails(now, until, lease, limit))
    }

    fn settle(&self, id: Uuid, lease: Uuid, fate: MailFate) -> Result<(), StoreError> {
        self.0.transaction(|tx| tx.settle_mail(id, lease, fate))
    }

    fn next_due(&self) -> Result<Option<Timestamp>, StoreError> {
        self.0.transaction(|tx| tx.next_mail_due())
    }
}
