//! The results of a campaign: measurements with their bounds, and one summary line.

use std::time::Duration;

/// The results of a campaign on one database.
#[derive(Default)]
pub(super) struct Report {
    pub(super) measurements: Vec<Measurement>,
    /// Requests or commands.
    pub(super) operations: usize,
    /// Faults that were injected, such as kills.
    pub(super) faults: usize,
    /// Effects that were acknowledged and are missing; `None` if the campaign does not compare responses with the
    /// database.
    pub(super) lost: Option<usize>,
    /// Effects that exist more often than they were requested; `None` if the campaign does not compare responses with
    /// the database.
    pub(super) duplicated: Option<usize>,
}

/// A result and its bound.
pub(super) struct Measurement {
    name: String,
    value: String,
    bound: String,
    holds: bool,
}

impl Report {
    /// Returns the number of exceeded bounds. Lost effects count as one, and so do duplicated effects.
    pub(super) fn count_violations(&self) -> usize {
        let exceeded = self.measurements.iter().filter(|measurement| !measurement.holds).count();
        exceeded + [self.lost, self.duplicated].into_iter().flatten().filter(|count| *count > 0).count()
    }

    /// Adds the results of another part of the campaign.
    pub(super) fn add(&mut self, part: Self) {
        let Self { measurements, operations, faults, lost, duplicated } = part;
        self.measurements.extend(measurements);
        self.operations += operations;
        self.faults += faults;
        self.lost = add_counts(self.lost, lost);
        self.duplicated = add_counts(self.duplicated, duplicated);
    }

    /// Prints each measurement with its bound.
    pub(super) fn print_measurements(&self, database: &str, campaign: &str) {
        for Measurement { name, value, bound, holds } in &self.measurements {
            let verdict = if *holds { "" } else { "EXCEEDED" };
            println!("{database:8}  {campaign:13}  {name:52}  {value:>16}  {bound:14}  {verdict}");
        }
    }

    /// Returns the summary line.
    pub(super) fn format_summary(&self, database: &str, campaign: &str, duration: Duration) -> String {
        let Self { operations, faults, .. } = self;
        let compared = [(self.lost, "lost"), (self.duplicated, "duplicated")];
        let compared: String =
            compared.iter().filter_map(|(count, what)| Some(format!("{} {what}, ", (*count)?))).collect();
        format!(
            "campaign {campaign} on {database}: {} s, {operations} operations, {faults} faults, {compared}{} violations",
            duration.as_secs(),
            self.count_violations(),
        )
    }
}

fn add_counts(one: Option<usize>, other: Option<usize>) -> Option<usize> {
    one.into_iter().chain(other).reduce(|one, other| one + other)
}

impl From<Vec<Measurement>> for Report {
    fn from(measurements: Vec<Measurement>) -> Self {
        Self { measurements, ..Self::default() }
    }
}

impl Measurement {
    /// A duration with its upper bound.
    pub(super) fn duration_below(name: impl Into<String>, time: Duration, bound: Duration) -> Self {
        let ms = |time: Duration| format!("{:.1} ms", time.as_secs_f64() * 1_000.0);
        Self { name: name.into(), value: ms(time), bound: format!("< {}", ms(bound)), holds: time < bound }
    }

    /// A number with its upper bound.
    pub(super) fn at_most(name: impl Into<String>, count: f64, bound: f64, unit: &str) -> Self {
        Self {
            name: name.into(),
            value: format!("{count:.2}{unit}"),
            bound: format!("<= {bound}{unit}"),
            holds: count <= bound,
        }
    }

    /// A number with its lower bound.
    pub(super) fn at_least(name: impl Into<String>, count: f64, bound: f64, unit: &str) -> Self {
        Self {
            name: name.into(),
            value: format!("{count:.0}{unit}"),
            bound: format!(">= {bound:.0}{unit}"),
            holds: count >= bound,
        }
    }

    /// A result without a bound.
    pub(super) fn without_bound(name: impl Into<String>, value: impl Into<String>) -> Self {
        Self { name: name.into(), value: value.into(), bound: String::new(), holds: true }
    }

    /// A result whose bound was checked before.
    pub(super) fn with_verdict(
        name: impl Into<String>,
        value: impl Into<String>,
        bound: impl Into<String>,
        holds: bool,
    ) -> Self {
        Self { name: name.into(), value: value.into(), bound: bound.into(), holds }
    }

    /// An error that ended the campaign.
    pub(super) fn failure(error: &anyhow::Error) -> Self {
        Self { name: format!("failed: {error:#}"), value: String::new(), bound: String::new(), holds: false }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Measurement, Report};

    #[test]
    fn exceeded_bounds_lost_and_duplicated_effects_are_violations() {
        let second = Duration::from_secs(1);
        let count = |measurement: Measurement| Report::from(vec![measurement]).count_violations();
        assert_eq!(count(Measurement::duration_below("a", second / 2, second)), 0);
        assert_eq!(count(Measurement::duration_below("a", second, second)), 1);
        assert_eq!(count(Measurement::at_most("a", 0.0, 0.0, "")), 0);
        assert_eq!(count(Measurement::at_most("a", 1.0, 0.0, "")), 1);
        assert_eq!(count(Measurement::at_least("a", 85.0, 85.0, " %")), 0);
        assert_eq!(count(Measurement::at_least("a", 84.0, 85.0, " %")), 1);
        assert_eq!(count(Measurement::failure(&anyhow::anyhow!("no service"))), 1);
        let (lost, duplicated) = (Some(2), Some(1));
        let report = Report { operations: 9, faults: 3, lost, duplicated, ..Report::default() };
        let mut whole = Report::from(vec![Measurement::without_bound("a", "")]);
        whole.add(Report { operations: 1, lost: Some(1), ..Report::default() });
        assert_eq!((whole.operations, whole.lost, whole.count_violations()), (1, Some(1), 1));
        let summary =
            |report: Report| report.format_summary("sqlite", "crash", Duration::from_millis(61_900));
        assert_eq!(
            summary(report),
            "campaign crash on sqlite: 61 s, 9 operations, 3 faults, 2 lost, 1 duplicated, 2 violations"
        );
        assert_eq!(
            summary(Report::default()),
            "campaign crash on sqlite: 61 s, 0 operations, 0 faults, 0 violations",
            "nothing was compared"
        );
    }
}
