//! Kills the service with SIGKILL at random times under load. On SQLite, every second kill is a simulated power
//! failure, which also loses writes that were not durable. These power failures must have undone writes.
//!
//! After each kill, the service starts again on the same data, requests with unknown outcomes are retried with their
//! keys, and the ledger is compared with the journal of acknowledged requests. Every tenth cycle also kills the service
//! while it starts. At the end, all requests of the campaign are compared with the whole ledger, and the
//! received events with the recognitions.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use guerdon_test_harness::WebhookReceiver;
use guerdon_test_support::Random;

use super::comparison::{Comparison, compare_all, compare_and_resolve};
use super::context::{Setup, temporary_folder};
use super::event_log::EventLog;
use super::ledger::Ledger;
use super::load::Load;
use super::power_failure::{self, PowerSwitch};
use super::report::{Measurement, Report};
use super::request_log::RequestLog;
use super::subject::Subject;
use crate::measurement::percentiles::{Percentiles, to_f64};
use crate::measurement::service::Database;

/// The shortest and the longest time from the start of the load to the kill. Short times are more frequent: each
/// doubling of the time is equally likely.
const TIMES_TO_KILL: [Duration; 2] = [Duration::from_millis(50), Duration::from_secs(3)];
/// The interval between two recognitions of a client.
const REQUEST_INTERVAL: Duration = Duration::from_millis(10);
/// Requests acknowledged within this time before the kill are retried with their keys.
const RETRIED_BEFORE_KILL: Duration = Duration::from_millis(20);
const CYCLES_PER_POWER_FAILURE: usize = 2;
const CYCLES_PER_KILL_DURING_START: usize = 10;
/// The longest time from the start of the process to the kill during a start.
const START_KILL_DELAY_MAX: Duration = Duration::from_millis(300);
const CYCLES_PER_VERIFICATION: usize = 100;
const START_TIME_MAX: Duration = Duration::from_secs(2);
/// How many events of one provider a process can have sent but not settled when it is killed.
const EVENTS_IN_FLIGHT_MAX: usize = 64;
/// How long to wait for events. It is longer than the leases of a killed process last.
const DELIVERY_TIMEOUT: Duration = Duration::from_secs(180);

/// The results of all cycles.
#[derive(Default)]
struct Cycles {
    log: RequestLog,
    /// The sum of the comparisons after each kill, and the comparison of all requests at the end.
    comparison: Comparison,
    whole: Comparison,
    events_lost: usize,
    start_times: Vec<Duration>,
    kills_during_start: usize,
    /// The bytes whose writes each power failure undid.
    undone_bytes: Vec<usize>,
    /// Kills while at least one request was in progress.
    kills_of_requests: usize,
}

pub(super) fn run(setup: &Setup<'_>) -> Result<Report> {
    let (folder, receiver) = (temporary_folder()?, WebhookReceiver::start()?);
    let (mut subject, power) = match setup.database {
        Database::Sqlite => {
            let power = PowerSwitch::compile(folder.path())?;
            let subject = Subject::start_with(setup, &receiver, None, &power.environment())?;
            (subject, Some(power))
        }
        Database::Postgres => (Subject::start(setup, &receiver)?, None),
    };
    let (mut events, mut cycles) = (EventLog::new(&receiver), Cycles::default());
    let outcome = cycles.run_all(setup, &mut subject, power.as_ref(), &mut events);
    let mut report = cycles.summarize(&events, power.is_some());
    report.measurements.extend(outcome.err().map(|error| Measurement::failure(&error)));
    Ok(report)
}

impl Cycles {
    /// Runs cycles for the duration of the campaign, then compares all requests with the whole ledger.
    fn run_all(
        &mut self,
        setup: &Setup<'_>,
        subject: &mut Subject,
        power: Option<&PowerSwitch>,
        events: &mut EventLog<'_>,
    ) -> Result<()> {
        let (mut ledger, mut random) = (Ledger::new(subject.sql_client(setup)?), Random(setup.seed));
        let start = Instant::now();
        for number in (1_usize..).take_while(|_| start.elapsed() < setup.duration) {
            let power = power.filter(|_| number.is_multiple_of(CYCLES_PER_POWER_FAILURE));
            self.run_cycle(subject, power, &mut ledger, &mut random, number)
                .with_context(|| format!("cycle {number}"))?;
            events.collect_arrivals()?;
            if number.is_multiple_of(CYCLES_PER_VERIFICATION) {
                subject.verify().with_context(|| format!("after cycle {number}"))?;
                eprintln!("{number} kills, {} s: {:?}", start.elapsed().as_secs(), self.comparison);
            }
        }
        subject.verify().context("at the end")?;
        self.whole = compare_all(&ledger, &self.log.requests)?;
        self.events_lost = events.wait_for_events(self.log.recognition_ids(), DELIVERY_TIMEOUT)?;
        subject.verify().context("after the last delivery")?;
        ensure!(self.comparison.acknowledged > self.start_times.len(), "too few requests were acknowledged");
        Ok(())
    }

    fn run_cycle(
        &mut self,
        subject: &mut Subject,
        power: Option<&PowerSwitch>,
        ledger: &mut Ledger,
        random: &mut Random,
        number: usize,
    ) -> Result<()> {
        let (target, time_to_kill) = (subject.target(), time_to_kill(random));
        let load = Load::new(&target, number, REQUEST_INTERVAL);
        let ((killed, undone_bytes), mut log) = load.run_during(|| {
            std::thread::sleep(time_to_kill);
            let killed = Instant::now();
            let undone_bytes = match power {
                Some(power) => Some(power.cut_power(random)?),
                None => subject.service.kill().map(|()| None)?,
            };
            Ok((killed, undone_bytes))
        })?;
        if let Some(power) = power {
            subject.service.wait_for_exit()?;
            power.restore_power()?;
            self.undone_bytes.extend(undone_bytes);
        }
        subject.check_log()?;
        power_failure::check_log(&subject.service.read_log())?;
        if number.is_multiple_of(CYCLES_PER_KILL_DURING_START) {
            subject.service.kill_during_start(random.duration_below(START_KILL_DELAY_MAX))?;
            self.kills_during_start += 1;
        }
        self.start_times.push(subject.restart()?);
        let is_uncertain = |received: Instant| received + RETRIED_BEFORE_KILL > killed;
        let comparison = compare_and_resolve(&subject.target(), ledger, &mut log, is_uncertain)?;
        ledger.skip_existing()?;
        self.kills_of_requests += usize::from(comparison.unknown > 0);
        self.comparison += comparison;
        self.log.merge(log);
        Ok(())
    }

    fn summarize(self, events: &EventLog<'_>, has_power_failures: bool) -> Report {
        let Self { log, comparison, whole, start_times, .. } = &self;
        let kills = start_times.len() + self.kills_during_start;
        let median =
            Percentiles::from_durations(start_times.clone()).map_or(Duration::ZERO, |times| times.median);
        let slowest = start_times.iter().max().copied().unwrap_or_default();
        let zero = |name: &str, count: usize| Measurement::at_most(name, to_f64(count), 0.0, "");
        let count = |name: &str, count: usize| Measurement::without_bound(name, count.to_string());
        let duplicates_max = to_f64(EVENTS_IN_FLIGHT_MAX * kills);
        let mut measurements = vec![
            count("kills under load", start_times.len()),
            count("  of these with requests in progress", self.kills_of_requests),
            count("kills during a start", self.kills_during_start),
            Measurement::without_bound("start until the first response, median", format!("{median:.1?}")),
            Measurement::duration_below("  longest", slowest, START_TIME_MAX),
            count("acknowledged before the kill", comparison.acknowledged),
            count("unknown outcomes", comparison.unknown),
            count("  of these committed", comparison.unknown_committed),
            count("retries", comparison.retried),
            zero("  with a different response", comparison.changed),
            zero("responses that are neither 201 nor 503", log.unexpected.len()),
            count("recognitions with an event", events.count_events()),
            zero("events lost", self.events_lost),
            zero("events without a requested recognition", events.count_unrequested(log.recognition_ids())),
            zero("events whose body or id changed", events.changed),
            Measurement::at_most("duplicate deliveries", to_f64(events.duplicates), duplicates_max, ""),
        ];
        if has_power_failures {
            measurements.extend(summarize_power_failures(&self.undone_bytes));
        }
        Report {
            measurements,
            operations: log.requests.len(),
            faults: kills,
            lost: Some(whole.lost.max(comparison.lost)),
            duplicated: Some(whole.duplicated.max(comparison.duplicated)),
        }
    }
}

/// Summarizes power failures by the number of bytes that each of them undid. If none of them undid any, the simulation
/// does not see the writes of the service.
fn summarize_power_failures(undone_bytes: &[usize]) -> [Measurement; 3] {
    let without_effect = undone_bytes.iter().filter(|bytes| **bytes == 0).count();
    [
        Measurement::without_bound("power failures", undone_bytes.len().to_string()),
        Measurement::without_bound("  of these without undone writes", without_effect.to_string()),
        Measurement::at_least("  bytes undone by all", to_f64(undone_bytes.iter().sum()), 1.0, ""),
    ]
}

/// Returns a random time of the kill, whose logarithm is uniformly distributed.
fn time_to_kill(random: &mut Random) -> Duration {
    let [shortest, longest] = TIMES_TO_KILL;
    let ratio = longest.as_secs_f64() / shortest.as_secs_f64();
    shortest.mul_f64(ratio.powf(random.fraction()))
}

#[cfg(test)]
mod tests {
    use guerdon_test_support::Random;

    use super::{TIMES_TO_KILL, time_to_kill};

    #[test]
    fn times_of_kills_are_within_bounds_and_spread() {
        let mut random = Random(1);
        let mut times: Vec<_> = (0..1_000).map(|_| time_to_kill(&mut random)).collect();
        times.sort_unstable();
        let [shortest, longest] = TIMES_TO_KILL;
        assert!(times.first().is_some_and(|time| *time >= shortest && *time < shortest * 2));
        assert!(times.last().is_some_and(|time| *time <= longest && *time > longest / 2));
        assert!(times.get(500).is_some_and(|median| *median > shortest * 6 && *median < longest / 6));
    }
}
