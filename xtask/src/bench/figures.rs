//! What was measured, as a table and as JSON.

use std::time::Duration;

use serde_json::{Value, json};

const COLUMNS: [&str; 9] =
    ["database", "measured", "per second", "CPU per request", "median", "p99", "ratio", "wanted", ""];

/// One line of the table. What a measurement does not have stays empty.
#[derive(Default)]
pub(super) struct Row {
    database: &'static str,
    what: String,
    per_second: Option<f64>,
    /// Of the service and of the database, for each request.
    cpu: Option<(Duration, Duration)>,
    times: Option<Times>,
    /// To a ceiling, and which one that is.
    ratio: Option<(f64, &'static str)>,
    wanted: Vec<Wanted>,
    note: String,
}

/// The middle of many times, and what 99 of 100 stay within.
#[derive(Clone, Copy)]
pub(super) struct Times {
    median: Duration,
    p99: Duration,
}

/// A bound that the issue sets.
#[derive(Clone, Copy)]
pub(super) enum Wanted {
    MedianBelow(Duration),
    P99Below(Duration),
    RatioAtLeast(f64),
}

impl Times {
    /// Of times in any order; none where there are none.
    pub(super) fn of(mut all: Vec<Duration>) -> Option<Self> {
        all.sort_unstable();
        let at = |percent: usize| all.get((all.len() * percent).div_ceil(100).saturating_sub(1)).copied();
        Some(Self { median: at(50)?, p99: at(99)? })
    }
}

impl Row {
    pub(super) fn new(what: impl Into<String>) -> Self {
        Self { what: what.into(), ..Self::default() }
    }

    pub(super) fn on(mut self, database: &'static str) -> Self {
        self.database = database;
        self
    }

    pub(super) fn rate(mut self, per_second: f64) -> Self {
        self.per_second = Some(per_second);
        self
    }

    pub(super) fn cpu(mut self, service: Duration, database: Duration) -> Self {
        self.cpu = Some((service, database));
        self
    }

    pub(super) fn times(mut self, all: Vec<Duration>) -> Self {
        self.times = Times::of(all);
        self
    }

    /// How the rate compares with that of a ceiling.
    pub(super) fn beside(mut self, ceiling: &Self, name: &'static str) -> Self {
        let ratio = self.per_second.zip(ceiling.per_second).map(|(rate, most)| rate / most);
        self.ratio = ratio.map(|it| (it, name));
        self
    }

    pub(super) fn wanted(mut self, wanted: &[Wanted]) -> Self {
        self.wanted = wanted.to_vec();
        self
    }

    pub(super) fn note(mut self, note: String) -> Self {
        self.note = note;
        self
    }

    fn misses(&self) -> bool {
        self.wanted.iter().any(|it| !it.is_met(self))
    }

    fn wish(&self) -> String {
        let wishes: Vec<_> = self.wanted.iter().map(Wanted::text).collect();
        format!("{}{}", wishes.join(", "), if self.misses() { " MISSED" } else { "" })
    }

    fn cells(&self) -> [String; 9] {
        let time = |pick: fn(Times) -> Duration| self.times.map(|it| milliseconds(pick(it)));
        [
            self.database.to_owned(),
            self.what.clone(),
            self.per_second.map(|it| format!("{it:.0}")).unwrap_or_default(),
            self.cpu.map(|(service, database)| processor(service, database)).unwrap_or_default(),
            time(|it| it.median).unwrap_or_default(),
            time(|it| it.p99).unwrap_or_default(),
            self.ratio.map(|(ratio, name)| format!("{ratio:.2} of {name}")).unwrap_or_default(),
            self.wish(),
            self.note.clone(),
        ]
    }

    fn json(&self) -> Value {
        let time = |pick: fn(Times) -> Duration| self.times.map(|it| pick(it).as_secs_f64() * 1_000.0);
        json!({
            "database": self.database, "measured": self.what, "per_second": self.per_second,
            "service_cpu_us": self.cpu.map(|it| it.0.as_micros()), "database_cpu_us": self.cpu.map(|it| it.1.as_micros()),
            "median_ms": time(|it| it.median), "p99_ms": time(|it| it.p99),
            "ratio": self.ratio.map(|(ratio, _)| ratio), "ceiling": self.ratio.map(|(_, name)| name),
            "wanted": self.wanted.iter().map(Wanted::text).collect::<Vec<_>>(),
            "missed": self.misses(), "note": self.note,
        })
    }
}

impl Wanted {
    fn is_met(&self, row: &Row) -> bool {
        match self {
            Wanted::MedianBelow(bound) => row.times.is_some_and(|it| it.median < *bound),
            Wanted::P99Below(bound) => row.times.is_some_and(|it| it.p99 < *bound),
            Wanted::RatioAtLeast(bound) => row.ratio.is_some_and(|(ratio, _)| ratio >= *bound),
        }
    }

    fn text(&self) -> String {
        match self {
            Wanted::MedianBelow(bound) => format!("median < {} ms", bound.as_millis()),
            Wanted::P99Below(bound) => format!("p99 < {} ms", bound.as_millis()),
            Wanted::RatioAtLeast(bound) => format!("ratio >= {bound}"),
        }
    }
}

/// So many in that time, for each second.
pub(super) fn per_second(count: usize, took: Duration) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(u32::MAX)) / took.as_secs_f64()
}

pub(super) fn table(facts: &[(&str, String)], rows: &[Row]) -> String {
    let mut lines = vec![COLUMNS.map(str::to_owned)];
    lines.extend(rows.iter().map(Row::cells));
    let mut widths = [0; 9];
    for line in &lines {
        for (width, cell) in widths.iter_mut().zip(line) {
            *width = cell.chars().count().max(*width);
        }
    }
    let facts = facts.iter().map(|(name, value)| format!("{name}: {value}"));
    let rows = lines.iter().map(|line| {
        let cells = line.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    });
    facts.chain([String::new()]).chain(rows).collect::<Vec<_>>().join("\n")
}

pub(super) fn json(facts: &[(&str, String)], rows: &[Row]) -> Value {
    let facts: serde_json::Map<_, _> =
        facts.iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect();
    json!({ "machine": facts, "figures": rows.iter().map(Row::json).collect::<Vec<_>>() })
}

fn processor(service: Duration, database: Duration) -> String {
    if database.is_zero() {
        return format!("{} µs", service.as_micros());
    }
    format!("{} + {} µs", service.as_micros(), database.as_micros())
}

fn milliseconds(time: Duration) -> String {
    format!("{:.2} ms", time.as_secs_f64() * 1_000.0)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Row, Times, Wanted};

    #[test]
    fn of_a_hundred_times_the_99th_is_p99() {
        let times = Times::of((1..=100).rev().map(Duration::from_millis).collect()).unwrap();
        assert_eq!((times.median, times.p99), (Duration::from_millis(50), Duration::from_millis(99)));
        let one = Times::of(vec![Duration::from_millis(7)]).unwrap();
        assert_eq!((one.median, one.p99), (Duration::from_millis(7), Duration::from_millis(7)));
        assert!(Times::of(Vec::new()).is_none());
    }

    #[test]
    fn a_bound_that_is_not_kept_is_marked() {
        let ceiling = Row::new("y").rate(100.0);
        let wanted = [Wanted::RatioAtLeast(0.5)];
        let row = |rate: f64| Row::new("x").rate(rate).beside(&ceiling, "y").wanted(&wanted);
        assert_eq!(row(50.0).wish(), "ratio >= 0.5");
        assert_eq!(row(49.0).wish(), "ratio >= 0.5 MISSED");
        let unmeasured = Row::new("x").wanted(&[Wanted::P99Below(Duration::from_secs(1))]);
        assert!(unmeasured.misses());
    }
}
