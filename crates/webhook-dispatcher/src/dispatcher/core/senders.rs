//! Counts the attempts in progress, by pace.

use std::time::Duration;

use super::line::Pace;
use crate::dispatcher::limits::DispatcherLimits;

/// The moving average covers roughly this many attempts.
const REMEMBERED: u32 = 16;

#[derive(Debug, Default)]
pub(super) struct Senders {
    brisk: usize,
    steady: usize,
    stuck: usize,
    /// The average time for which brisk senders have been busy lately.
    brisk_mean: Duration,
}

impl Senders {
    pub(super) fn others(&self) -> usize {
        self.steady.saturating_add(self.stuck)
    }

    /// Returns how many more attempts of this pace may begin.
    pub(super) fn room(&self, pace: Pace, limits: &DispatcherLimits) -> usize {
        let others = limits.other_senders.saturating_sub(self.others());
        let all = limits.senders.saturating_sub(self.others().saturating_add(self.brisk));
        match pace {
            Pace::Brisk => self.brisk_senders(limits).saturating_sub(self.brisk).min(all),
            Pace::Steady => others,
            Pace::Stuck => limits.stuck_senders.saturating_sub(self.stuck).min(others),
        }
    }

    /// Returns how many attempts at brisk receivers may be in progress. If senders wait for receivers, a longer
    /// average calls for more senders. If the processors are the bottleneck, each attempt slows down with the number
    /// of senders, so a longer average must not add more: it does not, as long as an attempt costs less than a
    /// quarter of a millisecond of processor time.
    fn brisk_senders(&self, limits: &DispatcherLimits) -> usize {
        let mean = usize::try_from(self.brisk_mean.as_micros()).unwrap_or(usize::MAX);
        let answer = usize::try_from(limits.brisk_answer.as_micros()).unwrap_or(usize::MAX);
        let for_mean = limits.brisk_senders.saturating_mul(mean).checked_div(answer).unwrap_or(usize::MAX);
        for_mean.max(limits.brisk_senders)
    }

    pub(super) fn begin(&mut self, pace: Pace) {
        let count = self.of(pace);
        *count += 1;
    }

    /// Ends an attempt that took `took`, or ends its membership in this pace.
    pub(super) fn end(&mut self, pace: Pace, took: Duration) {
        let count = self.of(pace);
        *count -= 1;
        if pace == Pace::Brisk {
            self.brisk_mean = (self.brisk_mean * (REMEMBERED - 1) + took) / REMEMBERED;
        }
    }

    fn of(&mut self, pace: Pace) -> &mut usize {
        match pace {
            Pace::Brisk => &mut self.brisk,
            Pace::Steady => &mut self.steady,
            Pace::Stuck => &mut self.stuck,
        }
    }
}
