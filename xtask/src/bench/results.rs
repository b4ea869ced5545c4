//! The results of measurements, and how they compare with the goals.

use std::time::Duration;

use crate::measurement::percentiles::Percentiles;

/// The result of one round of a case.
#[derive(Clone)]
pub(super) struct Round {
    pub(super) per_second: f64,
    /// Processor time of the service and of the database, per request.
    pub(super) cpu: Option<(Duration, Duration)>,
    pub(super) times: Vec<Duration>,
    /// The rate per second of the program to compare with, measured right before or after.
    pub(super) baseline: Option<f64>,
    /// Unexpected responses, which do not count.
    pub(super) unexpected: Option<String>,
}

impl Round {
    /// Creates a round with nothing but a rate.
    pub(super) fn from_rate(per_second: f64) -> Self {
        Self { per_second, cpu: None, times: Vec::new(), baseline: None, unexpected: None }
    }
}

/// A row of the table. Cells without a measurement stay empty.
#[derive(Default)]
pub(super) struct ResultRow {
    pub(super) database: &'static str,
    pub(super) name: String,
    pub(super) per_second: Option<f64>,
    pub(super) cpu: Option<(Duration, Duration)>,
    pub(super) times: Option<Percentiles>,
    pub(super) memory: Option<u64>,
    /// The name of the program that the rate is compared with.
    pub(super) baseline: Option<&'static str>,
    /// For each round, the ratio of the measured rate to that of the other program. The median counts.
    pub(super) ratios: Vec<f64>,
    pub(super) required: Vec<Goal>,
    pub(super) target: Vec<Goal>,
    pub(super) note: String,
}

/// The goal for a result.
#[derive(Clone, Copy)]
pub(super) enum Goal {
    MedianBelow(Duration),
    P99Below(Duration),
    RatioAtLeast(f64),
    MebibytesBelow(u64),
}

impl ResultRow {
    pub(super) fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), ..Self::default() }
    }

    /// Creates a row with the median of some rounds.
    pub(super) fn from_rounds(name: impl Into<String>, rounds: Vec<Round>) -> Self {
        let cpu: Vec<_> = rounds.iter().filter_map(|round| round.cpu).collect();
        let cpu =
            |pick: fn(&(Duration, Duration)) -> Duration| median_duration(cpu.iter().map(pick).collect());
        Self {
            name: name.into(),
            per_second: median_number(rounds.iter().map(|round| round.per_second).collect()),
            cpu: cpu(|times| times.0).zip(cpu(|times| times.1)),
            ratios: rounds.iter().filter_map(|round| Some(round.per_second / round.baseline?)).collect(),
            note: rounds.iter().filter_map(|round| round.unexpected.clone()).collect::<Vec<_>>().join("; "),
            times: Percentiles::from_durations(rounds.into_iter().flat_map(|round| round.times).collect()),
            ..Self::default()
        }
    }

    pub(super) fn on_database(mut self, database: &'static str) -> Self {
        self.database = database;
        self
    }

    pub(super) fn with_rate(mut self, per_second: f64) -> Self {
        self.per_second = Some(per_second);
        self
    }

    pub(super) fn with_times(mut self, times: Vec<Duration>) -> Self {
        self.times = Percentiles::from_durations(times);
        self
    }

    /// Sets the peak memory.
    pub(super) fn with_memory(mut self, bytes: u64) -> Self {
        self.memory = Some(bytes);
        self
    }

    /// Sets the name of the program that the rate is compared with.
    pub(super) fn compared_with(mut self, baseline: &'static str) -> Self {
        self.baseline = Some(baseline);
        self
    }

    pub(super) fn with_goals(mut self, required: &[Goal], target: &[Goal]) -> Self {
        (self.required, self.target) = (required.to_vec(), target.to_vec());
        self
    }

    pub(super) fn with_note(mut self, note: String) -> Self {
        self.note = note;
        self
    }

    pub(super) fn median_ratio(&self) -> Option<f64> {
        median_number(self.ratios.clone())
    }

    fn misses_requirement(&self) -> bool {
        self.required.iter().any(|goal| !goal.is_met(self))
    }

    /// Returns how the result compares with its goal.
    pub(super) fn verdict(&self) -> &'static str {
        let is_judged = !self.required.is_empty() || !self.target.is_empty();
        match (is_judged, self.misses_requirement(), self.target.iter().all(|goal| goal.is_met(self))) {
            (false, ..) => "",
            (_, true, _) => "BELOW REQUIREMENT",
            (_, _, true) => "meets target",
            (_, _, false) => "meets requirement",
        }
    }

    /// Returns a bar of the chart: name, ratio, required ratio, target ratio.
    pub(super) fn chart_bar(&self) -> Option<(String, f64, f64, f64)> {
        let bound = |goals: &[Goal]| {
            goals
                .iter()
                .find_map(|goal| if let Goal::RatioAtLeast(bound) = goal { Some(*bound) } else { None })
        };
        let required = bound(&self.required)?;
        let name = format!("{}, {}", self.name, self.database);
        Some((name, self.median_ratio()?, required, bound(&self.target).unwrap_or(required)))
    }
}

impl Goal {
    fn is_met(&self, row: &ResultRow) -> bool {
        match self {
            Goal::MedianBelow(bound) => row.times.is_some_and(|times| times.median < *bound),
            Goal::P99Below(bound) => row.times.is_some_and(|times| times.p99 < *bound),
            Goal::RatioAtLeast(bound) => row.median_ratio().is_some_and(|ratio| ratio >= *bound),
            Goal::MebibytesBelow(bound) => row.memory.is_some_and(|bytes| bytes >> 20 < *bound),
        }
    }

    pub(super) fn to_text(self) -> String {
        match self {
            Goal::MedianBelow(bound) => format!("median < {} ms", bound.as_secs_f64() * 1_000.0),
            Goal::P99Below(bound) => format!("p99 < {} ms", bound.as_millis()),
            Goal::RatioAtLeast(bound) => format!(">= {bound}"),
            Goal::MebibytesBelow(bound) => format!("< {bound} MiB"),
        }
    }
}

fn median_number(mut numbers: Vec<f64>) -> Option<f64> {
    numbers.sort_by(f64::total_cmp);
    numbers.get(numbers.len() / 2).copied()
}

fn median_duration(mut durations: Vec<Duration>) -> Option<Duration> {
    durations.sort_unstable();
    durations.get(durations.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Goal, ResultRow, Round};

    fn row(rates: &[f64]) -> ResultRow {
        let cpu = Some((Duration::from_micros(7), Duration::ZERO));
        let round = |rate: &f64| Round { cpu, baseline: Some(100.0), ..Round::from_rate(*rate) };
        let goals = [Goal::RatioAtLeast(0.5)];
        ResultRow::from_rounds("x", rates.iter().map(round).collect())
            .with_goals(&goals, &[Goal::RatioAtLeast(0.8)])
    }

    #[test]
    fn the_median_round_is_compared_with_the_goals() {
        assert_eq!(row(&[50.0, 10.0, 90.0]).verdict(), "meets requirement");
        assert_eq!(row(&[90.0, 10.0, 80.0]).verdict(), "meets target");
        assert_eq!(row(&[49.0]).verdict(), "BELOW REQUIREMENT");
        let unmeasured = ResultRow::new("x").with_goals(&[Goal::P99Below(Duration::from_secs(1))], &[]);
        assert_eq!(unmeasured.verdict(), "BELOW REQUIREMENT");
        assert_eq!(ResultRow::new("x").verdict(), "");
    }
}
