//! Settlements on their way to the journal.

use guerdon_domain::ports::{Fate, Settlement};

use super::{Core, Now};

impl Core {
    /// Whether a settlement is queued.
    pub(in crate::dispatcher) fn has_to_settle(&self) -> bool {
        !self.to_settle.is_empty()
    }

    /// Returns the settlements to write in the next transaction, under the latest leases. If a settlement could not
    /// be written, or its confirmation was lost, the event may have been claimed again meanwhile. The journal
    /// recognizes an attempt that it has already recorded by its id. An event without a callback URL may have been
    /// replayed since, because its provider now has one: it is released, to be decided again. The caller must pass
    /// the batch to [`settled`](Self::settled) or [`not_settled`](Self::not_settled).
    pub(in crate::dispatcher) fn take_to_settle(&mut self) -> Vec<Settlement> {
        let count = self.to_settle.len().min(self.settled_at_once);
        let mut batch: Vec<_> = self.to_settle.drain(..count).collect();
        for settlement in &mut batch {
            if let Some(held) = self.held.get_mut(&settlement.event) {
                if settlement.lease != held.lease && settlement.fate == Fate::Unaddressed {
                    settlement.fate = Fate::Released(held.claimed_at);
                }
                settlement.lease = held.lease;
                held.is_settling = true;
            }
        }
        self.settling += batch.len();
        batch
    }

    /// Records that settlements are durable. Returns whether the journal should be read now.
    #[must_use]
    pub(in crate::dispatcher) fn settled(&mut self, batch: &[Settlement], now: Now) -> bool {
        self.settling -= batch.len();
        self.settled_at_once = self.settled_at_once.saturating_mul(2).min(self.limits.settled_at_once);
        let mut is_hungry = false;
        let next_look = now.wall + self.limits.scan;
        for settlement in batch {
            is_hungry |= matches!(settlement.fate, Fate::RetryAt(at) if at < next_look);
            let Some(held) = self.held.remove(&settlement.event) else { continue };
            let Some(line) = self.lines.get_mut(&held.provider) else { continue };
            if settlement.attempt.is_some() {
                line.in_flight -= 1;
                self.in_flight -= 1;
                line.used(now.steady, &self.limits);
            } else {
                line.has_more = true;
            }
            is_hungry |= line.is_hungry();
            if let Some(waiting) = self.claimed_anew.remove(&settlement.event) {
                self.hold(held.provider, held.lease, waiting, now);
            }
            self.enqueue(held.provider);
        }
        is_hungry && !self.is_stopping
    }

    /// Records that settlements could not be written. They are retried first, in smaller batches, and one that fails
    /// alone moves to the end of the queue. So a settlement that the store rejects does not block the others.
    pub(in crate::dispatcher) fn not_settled(&mut self, batch: Vec<Settlement>) {
        self.settling -= batch.len();
        self.settled_at_once = (batch.len() / 2).max(1);
        for settlement in &batch {
            self.claimed_anew.remove(&settlement.event);
            if let Some(held) = self.held.get_mut(&settlement.event) {
                held.is_settling = false;
            }
        }
        if batch.len() == 1 {
            self.to_settle.extend(batch);
            return;
        }
        for settlement in batch.into_iter().rev() {
            self.to_settle.push_front(settlement);
        }
    }
}
