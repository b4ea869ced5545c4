//! A row as a JSON object: the names of the columns with their values.

use data_encoding::BASE64;
use guerdon_domain::ports::{ArchivedColumn, ArchivedRow, ArchivedType, ArchivedValue, Timestamp};
use serde_json::{Map, Value};
use uuid::Uuid;

/// Formats a row as one line of JSON, without a line feed.
pub(super) fn to_json_line(columns: &[ArchivedColumn], row: &[ArchivedValue]) -> serde_json::Result<String> {
    let mut line = String::from("{");
    for (index, (column, value)) in columns.iter().zip(row).enumerate() {
        if index > 0 {
            line.push(',');
        }
        line.push_str(&serde_json::to_string(column.name)?);
        line.push(':');
        line.push_str(&serde_json::to_string(&to_json(value))?);
    }
    line.push('}');
    Ok(line)
}

fn to_json(value: &ArchivedValue) -> Value {
    match value {
        ArchivedValue::Null => Value::Null,
        ArchivedValue::Bool(value) => Value::from(*value),
        ArchivedValue::Integer(value) => Value::from(*value),
        ArchivedValue::Text(value) => Value::from(value.as_str()),
        ArchivedValue::Bytes(value) => Value::from(BASE64.encode(value)),
        ArchivedValue::Id(value) => Value::from(value.to_string()),
        ArchivedValue::Time(value) => Value::from(format_time(*value)),
    }
}

/// Reads a row. Fails if a column is missing, unknown or of another type.
pub(super) fn parse_json_line(columns: &[ArchivedColumn], line: &str) -> Result<ArchivedRow, String> {
    let mut fields: Map<String, Value> =
        serde_json::from_str(line).map_err(|_cause| "it is not a JSON object".to_owned())?;
    let mut row = Vec::with_capacity(columns.len());
    for column in columns {
        let value = fields.remove(column.name).ok_or_else(|| format!("{} is missing", column.name))?;
        row.push(parse_value(column, value).ok_or_else(|| format!("{} has no valid value", column.name))?);
    }
    match fields.keys().next() {
        None => Ok(row),
        Some(unknown) => Err(format!("the column {unknown} is unknown")),
    }
}

fn parse_value(column: &ArchivedColumn, value: Value) -> Option<ArchivedValue> {
    match (column.value_type, value) {
        (_, Value::Null) => column.is_nullable.then_some(ArchivedValue::Null),
        (ArchivedType::Bool, Value::Bool(value)) => Some(ArchivedValue::Bool(value)),
        (ArchivedType::Integer, Value::Number(value)) => value.as_i64().map(ArchivedValue::Integer),
        (ArchivedType::Text, Value::String(value)) => Some(ArchivedValue::Text(value)),
        (ArchivedType::Bytes, Value::String(value)) => {
            BASE64.decode(value.as_bytes()).ok().map(ArchivedValue::Bytes)
        }
        (ArchivedType::Id, Value::String(value)) => Uuid::try_parse(&value).ok().map(ArchivedValue::Id),
        (ArchivedType::Time, Value::String(value)) => parse_time(&value).map(ArchivedValue::Time),
        _ => None,
    }
}

/// Reads a row with one nullable column of each type, and formats it again; `None` if it is not valid.
#[cfg(feature = "testing")]
pub(crate) fn format_row_again(line: &str) -> Option<String> {
    let columns = [
        ("flag", ArchivedType::Bool),
        ("integer", ArchivedType::Integer),
        ("text", ArchivedType::Text),
        ("bytes", ArchivedType::Bytes),
        ("id", ArchivedType::Id),
        ("time", ArchivedType::Time),
    ];
    let columns = columns.map(|(name, value_type)| ArchivedColumn { name, value_type, is_nullable: true });
    to_json_line(&columns, &parse_json_line(&columns, line).ok()?).ok()
}

/// A time in UTC with microseconds.
pub(super) fn format_time(at: Timestamp) -> String {
    let utc = at.to_utc();
    let (year, month, day) = (utc.year(), u8::from(utc.month()), utc.day());
    let (hour, minute, second) = utc.as_hms();
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{:06}Z", utc.microsecond())
}

pub(super) fn parse_time(text: &str) -> Option<Timestamp> {
    Timestamp::parse(text).ok()
}
