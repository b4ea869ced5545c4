//! Limits the memory of large requests. It is reserved before it is used, and released when the last part of the response has
//! been sent.
//!
//! Small requests reserve nothing and take no lock. If there is not enough memory, a request waits for a moment and then gets a
//! 503. One provider can reserve only a part of the total, so that the others are not blocked.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use guerdon_domain::ports::Deadlines;
use guerdon_domain::values::ProviderId;
use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

use crate::operation::error::ApiError;

/// The largest body or response that reserves nothing. There may be one per connection.
pub(crate) const SMALL_MAX: usize = 64 << 10;
/// The largest work on a request that reserves nothing; the number of requests in progress is limited. A recognition with the
/// message of its occasion is such a request.
pub(crate) const SMALL_WORK_MAX: usize = 128 << 10;

/// A number of bytes in total, and the part of them that one provider may reserve.
pub(crate) struct Budget {
    kind: &'static str,
    /// Requests up to this size reserve nothing.
    small: usize,
    all: usize,
    one: usize,
    taken: Mutex<Taken>,
    freed: Notify,
}

#[derive(Default)]
struct Taken {
    all: usize,
    each: HashMap<ProviderId, usize>,
}

/// The reservation of one request. Dropping it releases the memory.
pub(crate) struct Weight {
    budget: Arc<Budget>,
    provider: ProviderId,
    bytes: usize,
}

impl Budget {
    /// A budget whose reserved bytes are reported in `guerdon_http_held_bytes` under this kind.
    pub(crate) fn new(kind: &'static str, small: usize, all: usize, one: usize) -> Arc<Self> {
        Arc::new(Self { kind, small, all, one, taken: Mutex::default(), freed: Notify::new() })
    }

    /// An empty reservation for a request of this provider.
    pub(crate) fn weight(self: &Arc<Self>, provider: ProviderId) -> Weight {
        Weight { budget: Arc::clone(self), provider, bytes: 0 }
    }

    /// Reserves bytes, but never more than a provider's whole part, as soon as they are available. Fails with 503 after the
    /// deadline for memory.
    pub(crate) async fn take(
        self: &Arc<Self>,
        provider: ProviderId,
        bytes: usize,
    ) -> Result<Weight, ApiError> {
        let mut weight = self.weight(provider);
        if bytes <= self.small {
            return Ok(weight);
        }
        let deadline = Instant::now() + Deadlines::REQUEST.memory;
        loop {
            // Created before the check, so that memory that is released after the check is noticed.
            let freed = self.freed.notified();
            if weight.try_take(bytes.min(self.one)) {
                return Ok(weight);
            }
            if timeout_at(deadline, freed).await.is_err() {
                return Err(ApiError::unavailable("the service has too many large requests at work", 1));
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Weight {
    /// Reserves bytes for an empty reservation, as soon as they are available; 503 after the deadline for memory.
    pub(crate) async fn grown(self, bytes: usize) -> Result<Self, ApiError> {
        self.budget.take(self.provider, bytes).await
    }

    fn try_take(&mut self, bytes: usize) -> bool {
        let mut taken = self.budget.lock();
        let own = taken.each.get(&self.provider).copied().unwrap_or_default();
        let has_room = taken.all + bytes <= self.budget.all && own + bytes <= self.budget.one;
        if has_room {
            taken.change(self.budget.kind, self.provider, 0, bytes);
            self.bytes = bytes;
        }
        has_room
    }

    /// Sets the bytes that were needed in the end. If they are more than reserved, they are counted even above the limit.
    pub(crate) fn settle(&mut self, bytes: usize) {
        let bytes = if bytes <= SMALL_MAX { 0 } else { bytes };
        if bytes == self.bytes {
            return;
        }
        self.budget.lock().change(self.budget.kind, self.provider, self.bytes, bytes);
        if bytes < self.bytes {
            self.budget.freed.notify_waiters();
        }
        self.bytes = bytes;
    }
}

impl Drop for Weight {
    fn drop(&mut self) {
        self.settle(0);
    }
}

impl Taken {
    fn change(&mut self, kind: &'static str, provider: ProviderId, before: usize, after: usize) {
        self.all = self.all.saturating_sub(before).saturating_add(after);
        let held = u32::try_from(self.all).unwrap_or(u32::MAX);
        metrics::gauge!("guerdon_http_held_bytes", "kind" => kind).set(held);
        let own = self.each.entry(provider).or_default();
        *own = own.saturating_sub(before).saturating_add(after);
        if *own == 0 {
            self.each.remove(&provider);
        }
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    const MIB: usize = 1 << 20;

    fn provider(n: u128) -> ProviderId {
        ProviderId::from_uuid(Uuid::from_u128(n))
    }

    fn taken(budget: &Budget) -> (usize, usize) {
        let taken = budget.lock();
        (taken.all, taken.each.len())
    }

    #[tokio::test(start_paused = true)]
    async fn one_provider_has_a_part_and_the_others_the_rest() {
        let budget = Budget::new("test", SMALL_MAX, 3 * MIB, 2 * MIB);
        let first = budget.take(provider(1), 2 * MIB).await.unwrap();
        let refused = budget.take(provider(1), MIB).await.err().unwrap();
        assert_eq!(refused.told().0, 503);
        let other = budget.take(provider(2), MIB).await.unwrap();
        assert!(budget.take(provider(3), MIB).await.is_err());
        drop((first, other));
        assert_eq!(taken(&budget), (0, 0));
        let whole = budget.take(provider(1), 9 * MIB).await.unwrap();
        assert_eq!(taken(&budget), (2 * MIB, 1), "more than a provider's share takes that share");
        drop(whole);
    }

    #[tokio::test(start_paused = true)]
    async fn who_waits_goes_on_when_there_is_room() {
        let budget = Budget::new("test", SMALL_MAX, 2 * MIB, 2 * MIB);
        let mut first = budget.take(provider(1), 2 * MIB).await.unwrap();
        let waiting = tokio::spawn({
            let budget = Arc::clone(&budget);
            async move { budget.take(provider(2), MIB).await.is_ok() }
        });
        tokio::task::yield_now().await;
        first.settle(MIB);
        assert!(waiting.await.unwrap());
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_small_takes_nothing_and_what_came_out_larger_counts() {
        let budget = Budget::new("test", SMALL_MAX, MIB, MIB);
        let mut weight = budget.take(provider(1), SMALL_MAX).await.unwrap();
        assert_eq!(taken(&budget), (0, 0));
        weight.settle(2 * MIB);
        assert_eq!(taken(&budget), (2 * MIB, 1));
        assert!(budget.take(provider(2), SMALL_MAX + 1).await.is_err());
        assert!(budget.take(provider(2), SMALL_MAX).await.is_ok());
        weight.settle(SMALL_MAX);
        assert_eq!(taken(&budget), (0, 0));
    }
}
