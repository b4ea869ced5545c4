//! The results of rounds, and the comparison of a restored ledger with the journal of acknowledged requests.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use super::super::comparison::{Comparison, compare_all, compare_and_resolve, is_recorded};
use super::super::event_log::EventLog;
use super::super::ledger::{Ledger, RecognitionsByKey};
use super::super::report::{Measurement, Report};
use super::super::request_log::{LoadRequest, RequestLog};
use super::super::subject::Subject;
use crate::measurement::percentiles::to_f64;

/// Requests acknowledged within this time before the end of the copy are retried with their keys.
const RETRIED_BEFORE_END: Duration = Duration::from_secs(1);
const DELIVERY_TIMEOUT: Duration = Duration::from_secs(180);

/// The state that a restored copy must have: everything acknowledged before the first time, and nothing sent after the
/// second.
#[derive(Clone, Copy)]
pub(super) struct ExpectedState {
    pub(super) complete_until: Instant,
    pub(super) nothing_after: Instant,
}

/// A time to which a database is restored, as text, and the moments before and after it was read from a clock.
pub(super) struct TargetTime {
    pub(super) before: Instant,
    pub(super) text: String,
    pub(super) after: Instant,
}

impl TargetTime {
    pub(super) fn read(read_clock: impl FnOnce() -> Result<String>) -> Result<Self> {
        let before = Instant::now();
        let text = read_clock()?.trim().to_owned();
        Ok(Self { before, text, after: Instant::now() })
    }
}

/// The results of all rounds.
#[derive(Default)]
pub(super) struct Rounds {
    log: RequestLog,
    restored: usize,
    /// Acknowledged requests that a copy should contain but does not, and requests that a copy should not contain but
    /// does.
    lost: usize,
    too_new: usize,
    /// Acknowledged requests that were sent again after a restore because the copy did not contain them.
    sent_again: usize,
    /// The comparisons after the service has continued, and the comparison of all requests at the end.
    comparison: Comparison,
    whole: Comparison,
    events_lost: usize,
    /// The age of each copy: the time from its newest request to the kill or to the target time.
    ages: Vec<Duration>,
    restore_times: Vec<Duration>,
}

impl Rounds {
    /// Compares the ledger of a restored service with the requests of its round, and sends the missing ones again. The
    /// age of the copy is the time from its newest request to `end`.
    pub(super) fn add_round(
        &mut self,
        subject: &Subject,
        ledger: &mut Ledger,
        mut log: RequestLog,
        expected: ExpectedState,
        end: Instant,
    ) -> Result<()> {
        let recorded = ledger.read_recognitions()?;
        let state = RestoredState::compare(&recorded, &log.requests);
        self.lost += state.count_missing_before(expected.complete_until);
        self.too_new += state.count_present_after(expected.nothing_after);
        let newest = state.present.iter().max().context("the copy contains no request of the round")?;
        self.ages.push(end.saturating_duration_since(*newest));
        self.sent_again += state.missing.len();
        self.restored += 1;
        for request in &mut log.requests {
            if !is_recorded(&recorded, request) {
                request.acknowledgement = None;
            }
        }
        let is_uncertain = |received: Instant| received + RETRIED_BEFORE_END > end;
        self.comparison += compare_and_resolve(&subject.target(), ledger, &mut log, is_uncertain)?;
        ledger.skip_existing()?;
        subject.verify().context("after the restored service has continued")?;
        self.log.merge(log);
        Ok(())
    }

    pub(super) fn add_restore_time(&mut self, time: Duration) {
        self.restore_times.push(time);
    }

    /// Compares all requests of the campaign with the whole ledger, and waits for their events.
    pub(super) fn compare_all(&mut self, ledger: &Ledger, events: &mut EventLog<'_>) -> Result<()> {
        self.whole = compare_all(ledger, &self.log.requests)?;
        self.events_lost = events.wait_for_events(self.log.recognition_ids(), DELIVERY_TIMEOUT)?;
        Ok(())
    }

    pub(super) fn summarize(self, events: &EventLog<'_>) -> Report {
        let seconds = |times: &[Duration]| {
            let [shortest, longest] = [times.iter().min(), times.iter().max()]
                .map(|time| time.copied().unwrap_or_default().as_secs_f64());
            format!("{shortest:.3} to {longest:.3} s")
        };
        let zero = |name: &str, count: usize| Measurement::at_most(name, to_f64(count), 0.0, "");
        let count = |name: &str, count: usize| Measurement::without_bound(name, count.to_string());
        let measurements = vec![
            Measurement::at_least("copies restored and verified", to_f64(self.restored), 1.0, ""),
            Measurement::without_bound("  age of the newest request in a copy", seconds(&self.ages)),
            Measurement::without_bound("  time to restore, verify and start", seconds(&self.restore_times)),
            zero("  requests that a copy should not contain", self.too_new),
            count("  missing requests, sent again with their keys", self.sent_again),
            zero("retries with a different response", self.comparison.changed),
            zero("responses that are neither 201 nor 503", self.log.unexpected.len()),
            zero("events lost", self.events_lost),
            count("duplicate deliveries", events.duplicates),
        ];
        Report {
            measurements,
            operations: self.log.requests.len(),
            faults: self.restore_times.len(),
            lost: Some(self.lost + self.comparison.lost.max(self.whole.lost)),
            duplicated: Some(self.comparison.duplicated.max(self.whole.duplicated)),
        }
    }
}

/// Which requests a restored ledger contains.
struct RestoredState {
    /// The times at which the requests whose recognition is present were first sent.
    present: Vec<Instant>,
    /// The times at which the requests whose recognition is missing were acknowledged.
    missing: Vec<Instant>,
}

impl RestoredState {
    fn compare(recorded: &RecognitionsByKey, requests: &[LoadRequest]) -> Self {
        let present = requests.iter().filter(|request| recorded.contains_key(&request.idempotency_key()));
        let missing = requests.iter().filter(|request| !is_recorded(recorded, request));
        Self {
            present: present.map(|request| request.sent).collect(),
            missing: missing.filter_map(|request| Some(request.acknowledgement.as_ref()?.received)).collect(),
        }
    }

    fn count_missing_before(&self, time: Instant) -> usize {
        self.missing.iter().filter(|received| **received < time).count()
    }

    /// Counts present requests that were sent after this time, or after a missing one had been acknowledged.
    fn count_present_after(&self, time: Instant) -> usize {
        let end = self.missing.iter().copied().chain([time]).min().unwrap_or(time);
        self.present.iter().filter(|sent| **sent > end).count()
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::RestoredState;

    #[test]
    fn missing_and_later_requests_of_a_copy_are_counted() {
        let start = Instant::now();
        let check = |present: &[u64], missing: &[u64], time: u64, [lost, too_new]: [usize; 2]| {
            let at = |seconds: &u64| start + Duration::from_secs(*seconds);
            let (present, missing) = (present.iter().map(at).collect(), missing.iter().map(at).collect());
            let state = RestoredState { present, missing };
            assert_eq!(state.count_missing_before(at(&time)), lost);
            assert_eq!(state.count_present_after(at(&time)), too_new);
        };
        check(&[1, 2, 3], &[5, 6], 4, [0, 0]);
        check(&[1, 2], &[3, 5], 4, [1, 0]);
        check(&[1, 2, 5], &[6], 4, [0, 1]);
        check(&[1, 2, 5], &[4, 6], 7, [2, 1]);
    }
}
