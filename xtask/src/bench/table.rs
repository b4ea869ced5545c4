//! Prints rows as a table, as CSV and as JSON.

use std::time::Duration;

use serde_json::{Value, json};

use super::results::{Goal, ResultRow};
use crate::measurement::percentiles::Percentiles;

const COLUMNS: [&str; 12] = [
    "database",
    "case",
    "per second",
    "CPU per request",
    "median",
    "p99",
    "memory",
    "baseline",
    "ratio",
    "required",
    "target",
    "",
];

impl ResultRow {
    fn to_cells(&self) -> [String; 12] {
        let time =
            |select: fn(Percentiles) -> Duration| self.times.map(|times| format_milliseconds(select(times)));
        let goal_texts =
            |goals: &[Goal]| goals.iter().copied().map(Goal::to_text).collect::<Vec<_>>().join(", ");
        [
            self.database.to_owned(),
            self.name.clone(),
            self.per_second.map(|rate| format!("{rate:.0}")).unwrap_or_default(),
            self.cpu.map(|(service, database)| format_cpu(service, database)).unwrap_or_default(),
            time(|times| times.median).unwrap_or_default(),
            time(|times| times.p99).unwrap_or_default(),
            self.memory.map(|bytes| format!("{} MiB", bytes >> 20)).unwrap_or_default(),
            self.baseline.unwrap_or_default().to_owned(),
            self.median_ratio()
                .map(|ratio| format!("{ratio:.2}{}", self.format_spread()))
                .unwrap_or_default(),
            goal_texts(&self.required),
            goal_texts(&self.target),
            [self.verdict(), &self.note]
                .iter()
                .filter(|note| !note.is_empty())
                .copied()
                .collect::<Vec<_>>()
                .join("; "),
        ]
    }

    /// Returns the smallest and the largest ratio of several rounds.
    fn format_spread(&self) -> String {
        if self.ratios.len() < 2 {
            return String::new();
        }
        let smallest = self.ratios.iter().copied().fold(f64::INFINITY, f64::min);
        let largest = self.ratios.iter().copied().fold(0.0, f64::max);
        format!(" ({smallest:.2} .. {largest:.2})")
    }

    fn to_json(&self) -> Value {
        let time = |select: fn(Percentiles) -> Duration| {
            self.times.map(|times| select(times).as_secs_f64() * 1_000.0)
        };
        let goal_texts = |goals: &[Goal]| goals.iter().copied().map(Goal::to_text).collect::<Vec<_>>();
        json!({
            "database": self.database, "case": self.name, "per_second": self.per_second,
            "service_cpu_us": self.cpu.map(|times| times.0.as_micros()), "database_cpu_us": self.cpu.map(|times| times.1.as_micros()),
            "median_ms": time(|times| times.median), "p99_ms": time(|times| times.p99), "memory_bytes": self.memory,
            "baseline": self.baseline, "ratio": self.median_ratio(), "ratios": self.ratios,
            "required": goal_texts(&self.required), "target": goal_texts(&self.target), "verdict": self.verdict(), "note": self.note,
        })
    }
}

pub(super) fn format_table(properties: &[(&str, String)], rows: &[ResultRow]) -> String {
    let mut lines = vec![COLUMNS.map(str::to_owned)];
    lines.extend(rows.iter().map(ResultRow::to_cells));
    let mut widths = [0; COLUMNS.len()];
    for line in &lines {
        for (width, cell) in widths.iter_mut().zip(line) {
            *width = cell.chars().count().max(*width);
        }
    }
    let properties = properties.iter().map(|(name, value)| format!("{name}: {value}"));
    let rows = lines.iter().map(|line| {
        let cells = line.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    });
    properties.chain([String::new()]).chain(rows).collect::<Vec<_>>().join("\n")
}

/// Formats rows as CSV (RFC 4180).
pub(super) fn format_csv(rows: &[ResultRow]) -> String {
    let quoted = |cell: &String| format!("\"{}\"", cell.replace('"', "\"\""));
    let line =
        |cells: [String; COLUMNS.len()]| cells.iter().map(quoted).collect::<Vec<_>>().join(",") + "\r\n";
    let mut header = COLUMNS.map(str::to_owned);
    if let Some(last) = header.last_mut() {
        "verdict".clone_into(last);
    }
    std::iter::once(header).chain(rows.iter().map(ResultRow::to_cells)).map(line).collect()
}

pub(super) fn format_json(properties: &[(&str, String)], rows: &[ResultRow]) -> Value {
    let properties: serde_json::Map<_, _> =
        properties.iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect();
    json!({ "machine": properties, "figures": rows.iter().map(ResultRow::to_json).collect::<Vec<_>>() })
}

fn format_cpu(service: Duration, database: Duration) -> String {
    if database.is_zero() {
        return format!("{} µs", service.as_micros());
    }
    format!("{} + {} µs", service.as_micros(), database.as_micros())
}

fn format_milliseconds(time: Duration) -> String {
    format!("{:.2} ms", time.as_secs_f64() * 1_000.0)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::results::{Goal, ResultRow, Round};
    use super::format_csv;

    #[test]
    fn a_comma_breaks_no_column() {
        let cpu = Some((Duration::from_micros(7), Duration::ZERO));
        let round = Round { cpu, baseline: Some(100.0), ..Round::from_rate(60.0) };
        let row = ResultRow::from_rounds("x", vec![round])
            .with_goals(&[Goal::RatioAtLeast(0.5)], &[Goal::RatioAtLeast(0.8)]);
        let table = format_csv(&[row.with_note("a, \"b\"".to_owned())]);
        let line = table.lines().nth(1).unwrap();
        assert!(line.starts_with("\"\",\"x\",\"60\",\"7 µs\","), "{line}");
        assert!(line.ends_with("\"meets requirement; a, \"\"b\"\"\""), "{line}");
    }
}
