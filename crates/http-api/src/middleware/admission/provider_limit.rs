//! The rate limit of each provider, and the headers that describe it (behaviour 20.1).

use std::num::NonZeroU32;
use std::time::Duration;

use governor::clock::{Clock, DefaultClock};
use governor::middleware::StateInformationMiddleware;
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};
use guerdon_domain::values::ProviderId;

use crate::api::RateLimits;

/// If there are more buckets than this, each request removes the full ones. Only providers with valid credentials have
/// a bucket.
const BUCKETS_MAX: usize = 10_000;

/// Token buckets by provider.
pub(crate) struct ProviderLimit {
    limiter: DefaultKeyedRateLimiter<ProviderId, StateInformationMiddleware>,
    clock: DefaultClock,
    per_second: NonZeroU32,
    burst: NonZeroU32,
    /// The value of `RateLimit-Policy`.
    pub(super) policy: String,
}

impl ProviderLimit {
    /// `None` if the limit is off.
    pub(crate) fn new(limits: RateLimits) -> Option<Self> {
        let per_second = NonZeroU32::new(limits.requests_per_second)?;
        let burst = NonZeroU32::new(limits.burst).unwrap_or(NonZeroU32::MIN);
        let quota = Quota::with_period(Duration::from_secs(1) / per_second.get())?.allow_burst(burst);
        let window = burst.get().div_ceil(per_second.get());
        let policy = format!("\"provider\";q={burst};w={window}");
        let limiter = RateLimiter::keyed(quota).with_middleware();
        Some(Self { limiter, clock: DefaultClock::default(), per_second, burst, policy })
    }

    /// Takes one request from a provider's bucket. Returns the value of `RateLimit`, and `Err` with the seconds to wait
    /// if the bucket is empty.
    pub(super) fn take_request(&self, provider: ProviderId) -> (String, Result<(), u64>) {
        if self.limiter.len() > BUCKETS_MAX {
            self.limiter.retain_recent();
        }
        match self.limiter.check_key(&provider) {
            Ok(snapshot) => (self.limit_header(snapshot.remaining_burst_capacity()), Ok(())),
            Err(until) => {
                let wait = until.wait_time_from(self.clock.now());
                (self.limit_header(0), Err(wait.as_secs() + 1))
            }
        }
    }

    fn limit_header(&self, remaining: u32) -> String {
        let until_full = self.burst.get().saturating_sub(remaining).div_ceil(self.per_second.get());
        format!("\"provider\";r={remaining};t={until_full}")
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn provider_limit(requests_per_second: u32, burst: u32) -> Option<ProviderLimit> {
        ProviderLimit::new(RateLimits { requests_per_second, burst, failed_logins_per_minute: 0 })
    }

    #[test]
    fn a_policy_contains_the_burst_and_the_seconds_to_refill_it() {
        let check = |per_second, burst, expected: Option<&str>| {
            let limit = provider_limit(per_second, burst);
            assert_eq!(limit.as_ref().map(|limit| limit.policy.as_str()), expected);
        };
        check(200, 400, Some("\"provider\";q=400;w=2"));
        check(200, 401, Some("\"provider\";q=401;w=3"));
        check(1, 0, Some("\"provider\";q=1;w=1"));
        check(0, 400, None);
    }

    #[test]
    fn a_burst_is_served_and_then_refused_for_that_provider_alone() {
        // The rate is so low that no token is added while the test runs.
        let limit = provider_limit(1, 100).unwrap();
        let one = ProviderId::from_uuid(Uuid::from_u128(1));
        assert_eq!(limit.take_request(one), ("\"provider\";r=99;t=1".to_owned(), Ok(())));
        let served = (1..150).filter(|_| limit.take_request(one).1.is_ok()).count();
        assert!((99..=101).contains(&served), "{served}");
        let (header, result) = limit.take_request(one);
        assert_eq!((header.as_str(), result), ("\"provider\";r=0;t=100", Err(1)));
        assert!(limit.take_request(ProviderId::from_uuid(Uuid::from_u128(2))).1.is_ok());
    }
}
