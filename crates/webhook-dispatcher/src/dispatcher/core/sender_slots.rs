//! Counts the attempts in progress, by latency.

use std::time::Duration;

use super::provider_queue::Latency;
use crate::dispatcher::limits::DispatcherLimits;

/// Roughly how many attempts the moving average covers.
const AVERAGED_ATTEMPTS: u32 = 16;

#[derive(Debug, Default)]
pub(super) struct SenderSlots {
    fast: usize,
    normal: usize,
    slow: usize,
    /// The moving average of the durations of attempts at fast receivers.
    fast_mean: Duration,
}

impl SenderSlots {
    pub(super) fn not_fast_count(&self) -> usize {
        self.normal.saturating_add(self.slow)
    }

    /// Returns how many more attempts of this latency may begin.
    pub(super) fn free_slots(&self, latency: Latency, limits: &DispatcherLimits) -> usize {
        let others = limits.normal_senders.saturating_sub(self.not_fast_count());
        let all = limits.senders.saturating_sub(self.not_fast_count().saturating_add(self.fast));
        match latency {
            Latency::Fast => self.fast_senders_max(limits).saturating_sub(self.fast).min(all),
            Latency::Normal => others,
            Latency::Slow => limits.slow_senders.saturating_sub(self.slow).min(others),
        }
    }

    /// Returns how many attempts at fast receivers may be in progress. If senders wait for receivers, the limit must
    /// grow with the average duration. If the processors are the bottleneck, more senders only make each attempt
    /// slower, so the limit must not grow. It does not, as long as an attempt costs less than a quarter of a
    /// millisecond of processor time.
    fn fast_senders_max(&self, limits: &DispatcherLimits) -> usize {
        let mean = usize::try_from(self.fast_mean.as_micros()).unwrap_or(usize::MAX);
        let expected = usize::try_from(limits.fast_latency_mean.as_micros()).unwrap_or(usize::MAX);
        let for_mean = limits.fast_senders.saturating_mul(mean).checked_div(expected).unwrap_or(usize::MAX);
        for_mean.max(limits.fast_senders)
    }

    pub(super) fn begin_attempt(&mut self, latency: Latency) {
        *self.count_mut(latency) += 1;
    }

    /// Ends an attempt that took `duration`, or removes it from this latency class.
    pub(super) fn end_attempt(&mut self, latency: Latency, duration: Duration) {
        *self.count_mut(latency) -= 1;
        if latency == Latency::Fast {
            self.fast_mean = (self.fast_mean * (AVERAGED_ATTEMPTS - 1) + duration) / AVERAGED_ATTEMPTS;
        }
    }

    fn count_mut(&mut self, latency: Latency) -> &mut usize {
        match latency {
            Latency::Fast => &mut self.fast,
            Latency::Normal => &mut self.normal,
            Latency::Slow => &mut self.slow,
        }
    }
}
