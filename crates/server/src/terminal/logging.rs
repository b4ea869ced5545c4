//! Writes log records to standard error, one line per record, as text or as JSON.

use std::io::Write;
use std::panic::{PanicHookInfo, set_hook};

use env_logger::{Builder, fmt::Formatter};
use log::kv::{self, Key, VisitSource};
use log::{LevelFilter, Record};
use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::settings::{Log, LogFormat};
use crate::terminal::printable;

/// A log record in JSON: first the fields that all records have, then its own fields, such as `request_id`.
#[derive(Serialize)]
struct LogLine<'a> {
    timestamp: &'a str,
    level: String,
    target: &'a str,
    message: &'a str,
    #[serde(flatten)]
    fields: Fields,
}

/// The fields of a record, in their order.
#[derive(Default)]
struct Fields(Vec<(String, Value)>);

impl Serialize for Fields {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, value)| (key, value)))
    }
}

impl<'kvs> VisitSource<'kvs> for Fields {
    fn visit_pair(&mut self, key: Key<'kvs>, value: kv::Value<'kvs>) -> Result<(), kv::Error> {
        let field = value.to_u64().map_or_else(|| value.to_string().into(), Into::into);
        self.0.push((key.as_str().to_owned(), field));
        Ok(())
    }
}

/// Starts logging with the level and the format of the settings. From then on, panics are logged too.
pub(crate) fn start_logging(log: Log) {
    let mut builder = Builder::new();
    // Below level info, records of other crates contain whole URLs with their queries.
    builder.filter_level(log.level.min(LevelFilter::Info));
    builder.filter_module("guerdon", log.level);
    if log.level <= LevelFilter::Info {
        // The line that the service logs at its start contains the same information as these records.
        builder.filter_module("actix_server", log.level.min(LevelFilter::Warn));
        // The health check logs once that the database is unavailable; the pool would log every attempt to connect.
        builder.filter_module("r2d2", LevelFilter::Off);
    }
    match log.format {
        LogFormat::Text => builder.format(write_text),
        LogFormat::Json => builder.format(write_json),
    };
    let started = builder.try_init(); // fails in tests, which build several applications in one process
    if started.is_ok() && log.level >= LevelFilter::Error {
        set_hook(Box::new(log_panic));
    }
}

fn log_panic(panic: &PanicHookInfo<'_>) {
    let thread = std::thread::current();
    log::error!(
        thread = thread.name().unwrap_or("unnamed"),
        location:% = panic.location().map(ToString::to_string).unwrap_or_default(),
        reason = panic.payload_as_str().unwrap_or("unknown");
        "a thread panicked"
    );
}

fn write_text(out: &mut Formatter, record: &Record<'_>) -> std::io::Result<()> {
    let message = format_message(record);
    let message = printable::escape_line(&message);
    writeln!(out, "{} {:5} {}: {message}", out.timestamp_millis(), record.level(), record.target())
}

/// Returns the message, followed by the fields as `key=value`. Values with other characters than those of names,
/// numbers, times and addresses are quoted.
fn format_message(record: &Record<'_>) -> String {
    let mut message = record.args().to_string();
    for (key, value) in collect_fields(record).0 {
        let value = match value {
            Value::String(text) if is_plain(&text) => text,
            other => other.to_string(),
        };
        message.push_str(&format!(" {key}={value}"));
    }
    message
}

fn is_plain(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "-_.:/@+".contains(c))
}

fn write_json(out: &mut Formatter, record: &Record<'_>) -> std::io::Result<()> {
    let timestamp = out.timestamp_millis().to_string();
    let line = serde_json::to_string(&build_line(&timestamp, &record.args().to_string(), record))?;
    writeln!(out, "{}", printable::escape_line(&line))
}

fn collect_fields(record: &Record<'_>) -> Fields {
    let mut fields = Fields::default();
    let _none_fails = record.key_values().visit(&mut fields);
    fields
}

fn build_line<'a>(timestamp: &'a str, message: &'a str, record: &'a Record<'_>) -> LogLine<'a> {
    let fields = collect_fields(record);
    let level = record.level().as_str().to_ascii_lowercase();
    LogLine { timestamp, level, target: record.target(), message, fields }
}

#[cfg(test)]
mod tests {
    use log::{Level, Record};

    #[test]
    fn fields_follow_the_message_in_text() {
        let pairs = [
            ("attempt", log::kv::Value::from(2_u32)),
            ("event_id", log::kv::Value::from("019a9c3e-5d71")),
            ("cause", log::kv::Value::from("no \"route\"")),
        ];
        let record = Record::builder().args(format_args!("failed")).key_values(&pairs).build();
        assert_eq!(
            super::format_message(&record),
            r#"failed attempt=2 event_id=019a9c3e-5d71 cause="no \"route\"""#
        );
    }

    #[test]
    fn record_fields_are_separate_in_json() {
        let pairs = [("request_id", log::kv::Value::from("r-1")), ("status", log::kv::Value::from(201_u16))];
        let record = Record::builder().level(Level::Debug).target("t").key_values(&pairs).build();
        assert_eq!(
            serde_json::to_string(&super::build_line("now", "done", &record)).unwrap(),
            r#"{"timestamp":"now","level":"debug","target":"t","message":"done","request_id":"r-1","status":201}"#
        );
    }
}
