//! How many attempts are under way, of each pace.

use std::time::Duration;

use super::line::Pace;
use crate::dispatcher::limits::DispatcherLimits;

/// So many attempts back the mean reaches, roughly.
const REMEMBERED: u32 = 16;

#[derive(Debug, Default)]
pub(super) struct Senders {
    brisk: usize,
    steady: usize,
    stuck: usize,
    /// How long a brisk sender has been busy lately, on average.
    brisk_mean: Duration,
}

impl Senders {
    pub(super) fn others(&self) -> usize {
        self.steady.saturating_add(self.stuck)
    }

    /// How many more attempts of this pace may begin.
    pub(super) fn room(&self, pace: Pace, limits: &DispatcherLimits) -> usize {
        let others = limits.other_senders.saturating_sub(self.others());
        let all = limits.senders.saturating_sub(self.others().saturating_add(self.brisk));
        match pace {
            Pace::Brisk => self.brisk_senders(limits).saturating_sub(self.brisk).min(all),
            Pace::Steady => others,
            Pace::Stuck => limits.stuck_senders.saturating_sub(self.stuck).min(others),
        }
    }

    /// Where the processors are busy, each sender takes as long as there are senders: twice the time is then no
    /// reason for more of them, and does not become one, as long as an attempt costs less than a quarter of a
    /// millisecond. Where receivers are waited for, it is.
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

    /// Ends an attempt, or its time among those of its pace, after so long.
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
