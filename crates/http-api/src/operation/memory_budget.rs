//! Limits the memory of large requests. Memory is reserved before it is used, and released when the last part of the
//! response has been sent.
//!
//! Small requests reserve nothing and take no lock. If there is not enough memory, a request waits for a limited time
//! and is then refused with 503. One provider can reserve only a part of the total, and a quarter of the total is kept
//! for providers that need little, so that a few providers with large requests do not block the others. tokio's
//! `Semaphore` has neither such shares nor such a reserve.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use guerdon_domain::ports::Deadlines;
use guerdon_domain::values::ProviderId;
use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

use crate::mutex::lock_mutex;
use crate::operation::ApiError;

/// The size of the largest body or response that reserves nothing. The number of such bodies and responses is limited,
/// because each connection has at most one.
pub(crate) const SMALL_BODY_BYTES_MAX: usize = 64 << 10;
/// The most memory that a request may need for its work without a reservation. The number of requests in progress
/// limits the total. For example, neither a recognition with its occasion's default message nor a single event
/// reserves memory.
pub(crate) const SMALL_WORK_BYTES_MAX: usize = 160 << 10;

/// Limits the reserved bytes in total and per provider.
pub(crate) struct MemoryBudget {
    kind: &'static str,
    limits: MemoryLimits,
    usage: Mutex<MemoryUsage>,
    freed: Notify,
}

/// The limits of a budget, in bytes.
#[derive(Clone, Copy)]
pub(crate) struct MemoryLimits {
    /// Requests up to this size reserve nothing.
    pub(crate) small: usize,
    pub(crate) total: usize,
    pub(crate) per_provider: usize,
}

#[derive(Default)]
struct MemoryUsage {
    total: usize,
    by_provider: HashMap<ProviderId, usize>,
}

/// The reservation of one request. Dropping it releases the memory.
pub(crate) struct MemoryPermit {
    budget: Arc<MemoryBudget>,
    provider: ProviderId,
    bytes: usize,
}

impl MemoryBudget {
    /// Creates a budget. Its reserved bytes are reported in `guerdon_http_memory_bytes` under this kind.
    pub(crate) fn new(kind: &'static str, limits: MemoryLimits) -> Arc<Self> {
        Arc::new(Self { kind, limits, usage: Mutex::default(), freed: Notify::new() })
    }

    /// An empty reservation for a request of this provider.
    pub(crate) fn empty_permit(self: &Arc<Self>, provider: ProviderId) -> MemoryPermit {
        MemoryPermit { budget: Arc::clone(self), provider, bytes: 0 }
    }

    /// Reserves bytes as soon as they are available, at most as many as one provider may have. Fails with 503 after the
    /// deadline for memory.
    pub(crate) async fn acquire_bytes(
        self: &Arc<Self>,
        provider: ProviderId,
        bytes: usize,
    ) -> Result<MemoryPermit, ApiError> {
        let mut permit = self.empty_permit(provider);
        if bytes <= self.limits.small {
            return Ok(permit);
        }
        let deadline = Instant::now() + Deadlines::MEMORY;
        loop {
            // Created before the check, so that memory that is released after the check is noticed.
            let freed = self.freed.notified();
            if permit.try_acquire_bytes(bytes.min(self.limits.per_provider)) {
                return Ok(permit);
            }
            if timeout_at(deadline, freed).await.is_err() {
                return Err(ApiError::unavailable("the service has too many large requests in progress", 1));
            }
        }
    }
}

impl MemoryPermit {
    /// Reserves bytes for an empty reservation as soon as they are available. Fails with 503 after the deadline for
    /// memory.
    pub(crate) async fn grow_to(self, bytes: usize) -> Result<Self, ApiError> {
        self.budget.acquire_bytes(self.provider, bytes).await
    }

    fn try_acquire_bytes(&mut self, bytes: usize) -> bool {
        let mut usage = lock_mutex(&self.budget.usage);
        let own_bytes = usage.by_provider.get(&self.provider).copied().unwrap_or_default();
        let (limits, needed) = (self.budget.limits, own_bytes + bytes);
        let needs_little = needed <= limits.per_provider / 4;
        let available = if needs_little { limits.total } else { limits.total - limits.total / 4 };
        let has_room = needed <= limits.per_provider && usage.total + bytes <= available;
        if has_room {
            usage.update_usage(self.budget.kind, self.provider, 0, bytes);
            self.bytes = bytes;
        }
        has_room
    }

    /// Sets the reservation to the bytes that were actually needed, even if that exceeds the limits. At most
    /// [`SMALL_BODY_BYTES_MAX`] bytes count as zero, whatever `MemoryLimits::small` is.
    pub(crate) fn resize_to(&mut self, bytes: usize) {
        let bytes = if bytes <= SMALL_BODY_BYTES_MAX { 0 } else { bytes };
        if bytes == self.bytes {
            return;
        }
        lock_mutex(&self.budget.usage).update_usage(self.budget.kind, self.provider, self.bytes, bytes);
        if bytes < self.bytes {
            self.budget.freed.notify_waiters();
        }
        self.bytes = bytes;
    }
}

impl Drop for MemoryPermit {
    fn drop(&mut self) {
        self.resize_to(0);
    }
}

impl MemoryUsage {
    fn update_usage(&mut self, kind: &'static str, provider: ProviderId, before: usize, after: usize) {
        self.total = self.total.saturating_sub(before).saturating_add(after);
        let total_bytes = u32::try_from(self.total).unwrap_or(u32::MAX);
        metrics::gauge!("guerdon_http_memory_bytes", "kind" => kind).set(total_bytes);
        let own_bytes = self.by_provider.entry(provider).or_default();
        *own_bytes = own_bytes.saturating_sub(before).saturating_add(after);
        if *own_bytes == 0 {
            self.by_provider.remove(&provider);
        }
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    const MIB: usize = 1 << 20;

    fn provider_id(n: u128) -> ProviderId {
        ProviderId::from_uuid(Uuid::from_u128(n))
    }

    fn create_budget(total: usize, per_provider: usize) -> Arc<MemoryBudget> {
        MemoryBudget::new("test", MemoryLimits { small: SMALL_BODY_BYTES_MAX, total, per_provider })
    }

    fn usage_of(budget: &MemoryBudget) -> (usize, usize) {
        let usage = lock_mutex(&budget.usage);
        (usage.total, usage.by_provider.len())
    }

    #[tokio::test(start_paused = true)]
    async fn one_provider_can_reserve_only_its_part() {
        let budget = create_budget(4 * MIB, 2 * MIB);
        let first = budget.acquire_bytes(provider_id(1), 2 * MIB).await.unwrap();
        let refused = budget.acquire_bytes(provider_id(1), MIB).await.err().unwrap();
        assert_eq!(refused.status_and_message().0, 503);
        let second = budget.acquire_bytes(provider_id(2), MIB).await.unwrap();
        assert!(budget.acquire_bytes(provider_id(3), MIB).await.is_err());
        drop((first, second));
        assert_eq!(usage_of(&budget), (0, 0));
        let whole = budget.acquire_bytes(provider_id(1), 9 * MIB).await.unwrap();
        assert_eq!(usage_of(&budget), (2 * MIB, 1), "more than a provider's share takes that share");
        drop(whole);
    }

    #[tokio::test(start_paused = true)]
    async fn a_quarter_is_kept_for_providers_that_need_little() {
        let budget = create_budget(16 * MIB, 8 * MIB);
        let first = budget.acquire_bytes(provider_id(1), 8 * MIB).await.unwrap();
        assert!(budget.acquire_bytes(provider_id(2), 8 * MIB).await.is_err());
        let second = budget.acquire_bytes(provider_id(2), 4 * MIB).await.unwrap();
        assert!(budget.acquire_bytes(provider_id(3), 3 * MIB).await.is_err());
        let third = budget.acquire_bytes(provider_id(3), 2 * MIB).await.unwrap();
        let fourth = budget.acquire_bytes(provider_id(4), 2 * MIB).await.unwrap();
        assert!(budget.acquire_bytes(provider_id(5), 2 * MIB).await.is_err());
        drop((first, second, third, fourth));
        assert_eq!(usage_of(&budget), (0, 0));
    }

    #[tokio::test(start_paused = true)]
    async fn a_waiting_request_continues_when_memory_is_released() {
        let budget = create_budget(3 * MIB, 2 * MIB);
        let mut first = budget.acquire_bytes(provider_id(1), 2 * MIB).await.unwrap();
        let waiting = tokio::spawn({
            let budget = Arc::clone(&budget);
            async move { budget.acquire_bytes(provider_id(2), MIB).await.is_ok() }
        });
        tokio::task::yield_now().await;
        first.resize_to(MIB);
        assert!(waiting.await.unwrap());
    }

    #[tokio::test(start_paused = true)]
    async fn small_requests_reserve_nothing_and_larger_responses_count() {
        let budget = create_budget(2 * MIB, 2 * MIB);
        let mut permit = budget.acquire_bytes(provider_id(1), SMALL_BODY_BYTES_MAX).await.unwrap();
        assert_eq!(usage_of(&budget), (0, 0));
        permit.resize_to(2 * MIB);
        assert_eq!(usage_of(&budget), (2 * MIB, 1));
        assert!(budget.acquire_bytes(provider_id(2), SMALL_BODY_BYTES_MAX + 1).await.is_err());
        assert!(budget.acquire_bytes(provider_id(2), SMALL_BODY_BYTES_MAX).await.is_ok());
        permit.resize_to(SMALL_BODY_BYTES_MAX);
        assert_eq!(usage_of(&budget), (0, 0));
    }
}
