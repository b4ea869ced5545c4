//! Log lines, on standard error: one line a record, as text or as JSON.

use std::io::Write;

use env_logger::{Builder, fmt::Formatter};
use log::{LevelFilter, Record};
use serde::Serialize;

use crate::settings::{Log, LogFormat};

/// A log line in JSON.
#[derive(Serialize)]
struct LogLine<'a> {
    timestamp: &'a str,
    level: &'a str,
    target: &'a str,
    message: &'a str,
}

/// Begins to log.
pub(crate) fn start(log: Log) {
    let mut builder = Builder::new();
    builder.filter_level(log.level);
    if log.level <= LevelFilter::Info {
        // The server's own start line says all of this in one.
        builder.filter_module("actix_server", log.level.min(LevelFilter::Warn));
        // A database that is away is told once, by whoever looks at it, not by every attempt of the pool.
        builder.filter_module("r2d2", LevelFilter::Off);
    }
    match log.format {
        LogFormat::Text => builder.format(text),
        LogFormat::Json => builder.format(json),
    };
    let _second_start = builder.try_init(); // tests build several applications in one process
}

fn text(out: &mut Formatter, record: &Record<'_>) -> std::io::Result<()> {
    let message = one_line(&record.args().to_string());
    writeln!(out, "{} {:5} {}: {message}", out.timestamp_millis(), record.level(), record.target())
}

fn json(out: &mut Formatter, record: &Record<'_>) -> std::io::Result<()> {
    let line = LogLine {
        timestamp: &out.timestamp_millis().to_string(),
        level: &record.level().as_str().to_lowercase(),
        target: record.target(),
        message: &record.args().to_string(),
    };
    writeln!(out, "{}", serde_json::to_string(&line)?)
}

/// A message that cannot pass for two records or steer a terminal.
fn one_line(message: &str) -> String {
    let escaped = |c: char| if c.is_control() { c.escape_default().to_string() } else { c.to_string() };
    message.chars().map(escaped).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_message_stays_on_its_line() {
        assert_eq!(super::one_line("a\nb\u{1b}[31m ü"), "a\\nb\\u{1b}[31m ü");
    }
}
