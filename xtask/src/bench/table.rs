//! Prints rows as a table, as CSV and as JSON.

use std::time::Duration;

use serde_json::{Value, json};

use super::figures::{Row, Wanted};
use crate::harness::times::Times;

const COLUMNS: [&str; 12] = [
    "database",
    "case",
    "per second",
    "CPU per request",
    "median",
    "p99",
    "memory",
    "ceiling",
    "ratio",
    "must",
    "reach",
    "",
];

impl Row {
    fn cells(&self) -> [String; 12] {
        let time = |pick: fn(Times) -> Duration| self.times.map(|times| milliseconds(pick(times)));
        let all = |wanted: &[Wanted]| wanted.iter().map(Wanted::text).collect::<Vec<_>>().join(", ");
        [
            self.database.to_owned(),
            self.what.clone(),
            self.per_second.map(|rate| format!("{rate:.0}")).unwrap_or_default(),
            self.cpu.map(|(service, database)| processor(service, database)).unwrap_or_default(),
            time(|times| times.median).unwrap_or_default(),
            time(|times| times.p99).unwrap_or_default(),
            self.memory.map(|bytes| format!("{} MiB", bytes >> 20)).unwrap_or_default(),
            self.ceiling.unwrap_or_default().to_owned(),
            self.ratio().map(|ratio| format!("{ratio:.2}{}", self.spread())).unwrap_or_default(),
            all(&self.must),
            all(&self.reach),
            [self.verdict(), &self.note]
                .iter()
                .filter(|note| !note.is_empty())
                .copied()
                .collect::<Vec<_>>()
                .join("; "),
        ]
    }

    /// Returns the smallest and the largest ratio of several rounds.
    fn spread(&self) -> String {
        if self.ratios.len() < 2 {
            return String::new();
        }
        let least = self.ratios.iter().copied().fold(f64::INFINITY, f64::min);
        let most = self.ratios.iter().copied().fold(0.0, f64::max);
        format!(" ({least:.2} .. {most:.2})")
    }

    fn json(&self) -> Value {
        let time = |pick: fn(Times) -> Duration| self.times.map(|times| pick(times).as_secs_f64() * 1_000.0);
        let all = |wanted: &[Wanted]| wanted.iter().map(Wanted::text).collect::<Vec<_>>();
        json!({
            "database": self.database, "case": self.what, "per_second": self.per_second,
            "service_cpu_us": self.cpu.map(|times| times.0.as_micros()), "database_cpu_us": self.cpu.map(|times| times.1.as_micros()),
            "median_ms": time(|times| times.median), "p99_ms": time(|times| times.p99), "memory_bytes": self.memory,
            "ceiling": self.ceiling, "ratio": self.ratio(), "ratios": self.ratios,
            "must": all(&self.must), "reach": all(&self.reach), "verdict": self.verdict(), "note": self.note,
        })
    }
}

pub(super) fn table(facts: &[(&str, String)], rows: &[Row]) -> String {
    let mut lines = vec![COLUMNS.map(str::to_owned)];
    lines.extend(rows.iter().map(Row::cells));
    let mut widths = [0; COLUMNS.len()];
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

/// Formats rows as CSV (RFC 4180).
pub(super) fn csv(rows: &[Row]) -> String {
    let quoted = |cell: &String| format!("\"{}\"", cell.replace('"', "\"\""));
    let line =
        |cells: [String; COLUMNS.len()]| cells.iter().map(quoted).collect::<Vec<_>>().join(",") + "\r\n";
    let mut header = COLUMNS.map(str::to_owned);
    if let Some(last) = header.last_mut() {
        "verdict".clone_into(last);
    }
    std::iter::once(header).chain(rows.iter().map(Row::cells)).map(line).collect()
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

    use super::super::figures::{Round, Row, Wanted};
    use super::csv;

    #[test]
    fn a_comma_breaks_no_column() {
        let cpu = Some((Duration::from_micros(7), Duration::ZERO));
        let round = Round { cpu, ceiling: Some(100.0), ..Round::rated(60.0) };
        let row =
            Row::of("x", vec![round]).wanted(&[Wanted::RatioAtLeast(0.5)], &[Wanted::RatioAtLeast(0.8)]);
        let table = csv(&[row.note("a, \"b\"".to_owned())]);
        let line = table.lines().nth(1).unwrap();
        assert!(line.starts_with("\"\",\"x\",\"60\",\"7 µs\","), "{line}");
        assert!(line.ends_with("\"holds; a, \"\"b\"\"\""), "{line}");
    }
}
