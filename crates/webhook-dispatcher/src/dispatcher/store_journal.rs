//! Implements the journal with the domain's store.

use std::sync::Arc;
use std::time::Duration;

use guerdon_domain::ports::{Claim, Settlement, Store, StoreError, StoreExt, Timestamp};
use guerdon_domain::values::ProviderId;

use super::journal::{Journal, Look};

/// A journal over the domain's store.
#[derive(Clone)]
pub struct StoreJournal {
    store: Arc<dyn Store>,
}

impl StoreJournal {
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self { store }
    }
}

impl std::fmt::Debug for StoreJournal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StoreJournal").finish_non_exhaustive()
    }
}

impl Journal for StoreJournal {
    fn claim_due(
        &self,
        now: Timestamp,
        plan: &mut dyn FnMut(&[ProviderId]) -> Vec<Claim>,
    ) -> Result<Look, StoreError> {
        self.store.transaction(|tx| {
            let mut due = Look { providers: tx.providers_with_due_events(now)?, ..Look::default() };
            if due.providers.is_empty() {
                due.next = tx.next_event_due()?;
                return Ok(due);
            }
            for claim in plan(&due.providers) {
                due.claimed.extend(tx.claim_events(&claim)?.filter(|claimed| !claimed.events.is_empty()));
            }
            Ok(due)
        })
    }

    fn settle(&self, settlements: &[Settlement]) -> Result<(), StoreError> {
        self.store.transaction(|tx| tx.settle_events(settlements))
    }

    fn bring_back(&self, now: Timestamp, waits: &[Duration], lease: Duration) -> Result<usize, StoreError> {
        self.store.transaction(|tx| tx.bring_back(now, waits, lease))
    }
}
