//! Batches of settlements that are written to the store.

use guerdon_domain::ports::{DeliveryOutcome, Settlement};

use super::{ClockReading, Core};

impl Core {
    /// Whether a settlement is queued.
    pub(in crate::dispatcher) fn has_settlements(&self) -> bool {
        !self.pending_settlements.is_empty()
    }

    /// Returns the settlements to write in the next transaction, under the latest leases. If a settlement could not be
    /// written before, or its confirmation was lost, the event may have been claimed again since. An attempt can be
    /// written again, because the store recognizes its id. An unaddressed event may have been replayed, because its
    /// provider now has a callback URL. Therefore an unaddressed event that was claimed again is released instead. The
    /// caller must pass the batch to [`confirm_settlements`](Self::confirm_settlements) or
    /// [`requeue_settlements`](Self::requeue_settlements).
    pub(in crate::dispatcher) fn take_settlement_batch(&mut self) -> Vec<Settlement> {
        let count = self.pending_settlements.len().min(self.settlement_batch_max);
        let mut batch: Vec<_> = self.pending_settlements.drain(..count).collect();
        for settlement in &mut batch {
            if let Some(entry) = self.claimed.get_mut(&settlement.event) {
                if settlement.lease != entry.lease && settlement.outcome == DeliveryOutcome::Unaddressed {
                    settlement.outcome = DeliveryOutcome::Released(entry.claimed_at);
                }
                settlement.lease = entry.lease;
                entry.is_settling = true;
            }
        }
        self.settling_count += batch.len();
        batch
    }

    /// Records that settlements are durable. Returns whether the outbox should be read now.
    #[must_use]
    pub(in crate::dispatcher) fn confirm_settlements(
        &mut self,
        batch: &[Settlement],
        now: ClockReading,
    ) -> bool {
        self.settling_count -= batch.len();
        // Not an `AdaptiveSize`: the size follows from failures, not from durations.
        self.settlement_batch_max =
            self.settlement_batch_max.saturating_mul(2).min(self.limits.settled_per_transaction);
        let mut needs_claim = false;
        let next_scan = now.wall + self.limits.scan_interval;
        for settlement in batch {
            needs_claim |= matches!(settlement.outcome, DeliveryOutcome::RetryAt(at) if at < next_scan);
            let Some(entry) = self.claimed.remove(&settlement.event) else { continue };
            let Some(queue) = self.queues.get_mut(&entry.provider) else { continue };
            if settlement.attempt.is_some() {
                queue.in_flight -= 1;
                self.in_flight -= 1;
                queue.record_event_done(now.monotonic, &self.limits);
            } else {
                queue.has_more = true;
            }
            needs_claim |= queue.needs_more_events();
            if let Some(waiting) = self.claimed_again.remove(&settlement.event) {
                self.enqueue_event(entry.provider, entry.lease, waiting, now);
            }
            self.enqueue_provider(entry.provider);
        }
        needs_claim && !self.is_stopping
    }

    /// Records that settlements could not be written. They are retried first, in smaller batches. A settlement that
    /// fails even in a separate batch moves to the end of the queue, so a settlement that the store rejects does not
    /// block the others.
    pub(in crate::dispatcher) fn requeue_settlements(&mut self, batch: Vec<Settlement>) {
        self.settling_count -= batch.len();
        self.settlement_batch_max = (batch.len() / 2).max(1);
        for settlement in &batch {
            self.claimed_again.remove(&settlement.event);
            if let Some(entry) = self.claimed.get_mut(&settlement.event) {
                entry.is_settling = false;
            }
        }
        if batch.len() == 1 {
            self.pending_settlements.extend(batch);
            return;
        }
        for settlement in batch.into_iter().rev() {
            self.pending_settlements.push_front(settlement);
        }
    }
}
