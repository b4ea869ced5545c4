//! The results of measurements, and how they compare with the goals.

use std::time::Duration;

use crate::harness::times::Times;

/// The result of one round of a case.
#[derive(Clone)]
pub(super) struct Round {
    pub(super) per_second: f64,
    /// Processor time of the service and of the database, per request.
    pub(super) cpu: Option<(Duration, Duration)>,
    pub(super) times: Vec<Duration>,
    /// The rate per second of the program to compare with, measured right before or after.
    pub(super) ceiling: Option<f64>,
    /// Unexpected responses, which do not count.
    pub(super) refused: Option<String>,
}

impl Round {
    /// Creates a round with nothing but a rate.
    pub(super) fn rated(per_second: f64) -> Self {
        Self { per_second, cpu: None, times: Vec::new(), ceiling: None, refused: None }
    }
}

/// A row of the table. Cells without a measurement stay empty.
#[derive(Default)]
pub(super) struct Row {
    pub(super) database: &'static str,
    pub(super) what: String,
    pub(super) per_second: Option<f64>,
    pub(super) cpu: Option<(Duration, Duration)>,
    pub(super) times: Option<Times>,
    pub(super) memory: Option<u64>,
    /// The name of the program that the rate is compared with.
    pub(super) ceiling: Option<&'static str>,
    /// The ratio of each round to the other program; the median counts.
    pub(super) ratios: Vec<f64>,
    pub(super) must: Vec<Wanted>,
    pub(super) reach: Vec<Wanted>,
    pub(super) note: String,
}

/// The goal for a result.
#[derive(Clone, Copy)]
pub(super) enum Wanted {
    MedianBelow(Duration),
    P99Below(Duration),
    RatioAtLeast(f64),
    MebibytesBelow(u64),
}

impl Row {
    pub(super) fn new(what: impl Into<String>) -> Self {
        Self { what: what.into(), ..Self::default() }
    }

    /// Creates a row with the median of some rounds.
    pub(super) fn of(what: impl Into<String>, rounds: Vec<Round>) -> Self {
        let cpu: Vec<_> = rounds.iter().filter_map(|round| round.cpu).collect();
        let cpu = |pick: fn(&(Duration, Duration)) -> Duration| middle(cpu.iter().map(pick).collect());
        Self {
            what: what.into(),
            per_second: median(rounds.iter().map(|round| round.per_second).collect()),
            cpu: cpu(|times| times.0).zip(cpu(|times| times.1)),
            ratios: rounds.iter().filter_map(|round| Some(round.per_second / round.ceiling?)).collect(),
            note: rounds.iter().filter_map(|round| round.refused.clone()).collect::<Vec<_>>().join("; "),
            times: Times::of(rounds.into_iter().flat_map(|round| round.times).collect()),
            ..Self::default()
        }
    }

    pub(super) fn on(mut self, database: &'static str) -> Self {
        self.database = database;
        self
    }

    pub(super) fn rate(mut self, per_second: f64) -> Self {
        self.per_second = Some(per_second);
        self
    }

    pub(super) fn times(mut self, all: Vec<Duration>) -> Self {
        self.times = Times::of(all);
        self
    }

    /// Sets the peak memory.
    pub(super) fn memory(mut self, bytes: u64) -> Self {
        self.memory = Some(bytes);
        self
    }

    /// Sets the name of the program that the rate is compared with.
    pub(super) fn beside(mut self, ceiling: &'static str) -> Self {
        self.ceiling = Some(ceiling);
        self
    }

    pub(super) fn wanted(mut self, must: &[Wanted], reach: &[Wanted]) -> Self {
        (self.must, self.reach) = (must.to_vec(), reach.to_vec());
        self
    }

    pub(super) fn note(mut self, note: String) -> Self {
        self.note = note;
        self
    }

    pub(super) fn ratio(&self) -> Option<f64> {
        median(self.ratios.clone())
    }

    fn misses(&self) -> bool {
        self.must.iter().any(|wanted| !wanted.is_met(self))
    }

    /// Returns how the result compares with its goal.
    pub(super) fn verdict(&self) -> &'static str {
        let is_judged = !self.must.is_empty() || !self.reach.is_empty();
        match (is_judged, self.misses(), self.reach.iter().all(|wanted| wanted.is_met(self))) {
            (false, ..) => "",
            (_, true, _) => "MISSED",
            (_, _, true) => "reached",
            (_, _, false) => "holds",
        }
    }

    /// Returns a bar of the chart: name, ratio, required ratio, ratio to aim for.
    pub(super) fn bar(&self) -> Option<(String, f64, f64, f64)> {
        let bound = |wanted: &[Wanted]| {
            wanted
                .iter()
                .find_map(|wanted| if let Wanted::RatioAtLeast(bound) = wanted { Some(*bound) } else { None })
        };
        let must = bound(&self.must)?;
        let name = format!("{}, {}", self.what, self.database);
        Some((name, self.ratio()?, must, bound(&self.reach).unwrap_or(must)))
    }
}

impl Wanted {
    fn is_met(&self, row: &Row) -> bool {
        match self {
            Wanted::MedianBelow(bound) => row.times.is_some_and(|times| times.median < *bound),
            Wanted::P99Below(bound) => row.times.is_some_and(|times| times.p99 < *bound),
            Wanted::RatioAtLeast(bound) => row.ratio().is_some_and(|ratio| ratio >= *bound),
            Wanted::MebibytesBelow(bound) => row.memory.is_some_and(|bytes| bytes >> 20 < *bound),
        }
    }

    pub(super) fn text(&self) -> String {
        match self {
            Wanted::MedianBelow(bound) => format!("median < {} ms", bound.as_secs_f64() * 1_000.0),
            Wanted::P99Below(bound) => format!("p99 < {} ms", bound.as_millis()),
            Wanted::RatioAtLeast(bound) => format!(">= {bound}"),
            Wanted::MebibytesBelow(bound) => format!("< {bound} MiB"),
        }
    }
}

fn median(mut all: Vec<f64>) -> Option<f64> {
    all.sort_by(f64::total_cmp);
    all.get(all.len() / 2).copied()
}

fn middle(mut all: Vec<Duration>) -> Option<Duration> {
    all.sort_unstable();
    all.get(all.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Round, Row, Wanted};

    fn row(rates: &[f64]) -> Row {
        let cpu = Some((Duration::from_micros(7), Duration::ZERO));
        let round = |rate: &f64| Round { cpu, ceiling: Some(100.0), ..Round::rated(*rate) };
        let wanted = [Wanted::RatioAtLeast(0.5)];
        Row::of("x", rates.iter().map(round).collect()).wanted(&wanted, &[Wanted::RatioAtLeast(0.8)])
    }

    #[test]
    fn the_middle_round_is_held_against_what_is_wanted() {
        assert_eq!(row(&[50.0, 10.0, 90.0]).verdict(), "holds");
        assert_eq!(row(&[90.0, 10.0, 80.0]).verdict(), "reached");
        assert_eq!(row(&[49.0]).verdict(), "MISSED");
        let unmeasured = Row::new("x").wanted(&[Wanted::P99Below(Duration::from_secs(1))], &[]);
        assert_eq!(unmeasured.verdict(), "MISSED");
        assert_eq!(Row::new("x").verdict(), "");
    }
}
