//! Implements the delivery store on the domain's store.

use std::sync::Arc;
use std::time::Duration;

use guerdon_domain::ports::{ClaimRequest, Settlement, Store, StoreError, StoreExt, Timestamp};
use guerdon_domain::values::ProviderId;

use super::delivery_store::{ClaimResult, DeliveryStore};

/// A delivery store on the domain's store.
#[derive(Clone)]
pub struct PersistentDeliveryStore {
    store: Arc<dyn Store>,
}

impl PersistentDeliveryStore {
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self { store }
    }
}

impl std::fmt::Debug for PersistentDeliveryStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PersistentDeliveryStore").finish_non_exhaustive()
    }
}

impl DeliveryStore for PersistentDeliveryStore {
    fn claim_due_events(
        &self,
        now: Timestamp,
        plan: &mut dyn FnMut(&[ProviderId]) -> Vec<ClaimRequest>,
    ) -> Result<ClaimResult, StoreError> {
        self.store.transaction(|tx| {
            let mut claim_result =
                ClaimResult { due_providers: tx.providers_with_due_events(now)?, ..ClaimResult::default() };
            if claim_result.due_providers.is_empty() {
                claim_result.next_due = tx.next_event_due()?;
                return Ok(claim_result);
            }
            for claim in plan(&claim_result.due_providers) {
                let claimed = tx.claim_events(&claim)?;
                claim_result.claimed.extend(claimed.filter(|claimed| !claimed.events.is_empty()));
            }
            Ok(claim_result)
        })
    }

    fn record_settlements(&self, settlements: &[Settlement]) -> Result<(), StoreError> {
        self.store.transaction(|tx| tx.settle_events(settlements))
    }

    fn reschedule_after_clock_change(
        &self,
        now: Timestamp,
        waits: &[Duration],
        lease: Duration,
    ) -> Result<usize, StoreError> {
        self.store.long_transaction(|tx| tx.reschedule_after_clock_change(now, waits, lease))
    }
}
