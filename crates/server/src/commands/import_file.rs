//! Reads the rows of a file to import.

use std::convert::Infallible;
use std::path::Path;

use csv::StringRecord;
use guerdon_api_types::requests::importable_user_fields;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::arguments::text_file::read_text_file;

/// The largest file: all rows are held in memory.
const FILE_BYTES_MAX: u64 = 256 << 20;
/// The longest row; no user needs more.
const ROW_BYTES_MAX: usize = 256 << 10;
/// The fields whose cells are booleans.
const BOOLEAN_FIELDS: [&str; 3] = ["manager", "company_admin", "corporation_admin"];

/// The rows of a file.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct ImportRows(pub(super) Vec<ImportRow>);

/// One row.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct ImportRow {
    /// The number of the line in which it begins.
    pub(super) line: usize,
    /// The fields as in a request body of the API, or why the row is invalid.
    pub(super) fields: Result<Map<String, Value>, String>,
}

/// Reads all rows of a file in the format of its extension. A failure is part of the value, for the command to report.
pub(super) fn read_rows(name: &str) -> Result<Result<ImportRows, String>, Infallible> {
    let ending =
        Path::new(name).extension().and_then(|extension| extension.to_str()).map(str::to_ascii_lowercase);
    read_text_file(name, (FILE_BYTES_MAX, "larger than 256 MiB: import it in parts"), |text| {
        match ending.as_deref() {
            Some("csv") => parse_csv(text).map(ImportRows),
            Some("jsonl" | "ndjson") => Ok(ImportRows(parse_json_lines(text))),
            _ => Err("the name must end in .csv or .jsonl".to_owned()),
        }
    })
}

fn parse_csv(text: &str) -> Result<Vec<ImportRow>, String> {
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(text.as_bytes());
    let head = reader.headers().map_err(|cause| cause.to_string())?.clone();
    let known = importable_user_fields();
    if let Some(unknown) = head.iter().find(|column| !known.iter().any(|name| name == column)) {
        return Err(format!("unknown column `{unknown}`; known columns: {}", known.join(", ")));
    }
    if let Some(twice) =
        head.iter().enumerate().find(|(at, column)| head.iter().take(*at).any(|one| one == *column))
    {
        return Err(format!("duplicate column `{}`", twice.1));
    }
    let mut lines = LineNumbers::for_text(text);
    let mut rows = Vec::new();
    for record in reader.records() {
        let (position, fields) = match &record {
            Ok(record) => (record.position(), record_fields(&head, record)),
            Err(cause) => (cause.position(), Err(describe_csv_error(cause))),
        };
        rows.push(ImportRow { line: lines.line_at(position.map_or(0, csv::Position::byte)), fields });
    }
    Ok(rows)
}

fn record_fields(head: &StringRecord, record: &StringRecord) -> Result<Map<String, Value>, String> {
    if record.as_slice().len() > ROW_BYTES_MAX {
        return Err(too_long());
    }
    Ok(head.iter().zip(record).filter_map(|(name, cell)| cell_value(name, cell)).collect())
}

fn describe_csv_error(cause: &csv::Error) -> String {
    match cause.kind() {
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            let cells = if *len == 1 { "cell" } else { "cells" };
            format!("{len} {cells}, but the header has {expected_len}")
        }
        _ => cause.to_string(),
    }
}

/// Finds the line in which a record begins. `csv::Position::line` does not: with CRLF, and after empty lines, it is the
/// line in which the previous record ended.
struct LineNumbers<'a> {
    text: &'a [u8],
    /// The number of bytes whose lines are counted.
    counted_bytes: usize,
    /// The line of the next byte, counted from 1.
    line: usize,
}

impl<'a> LineNumbers<'a> {
    fn for_text(text: &'a str) -> Self {
        Self { text: text.as_bytes(), counted_bytes: 0, line: 1 }
    }

    /// Returns the line of the first byte at or after `byte` that does not end a line. `byte` must not be smaller than
    /// in the previous call.
    fn line_at(&mut self, byte: u64) -> usize {
        let byte = usize::try_from(byte).unwrap_or(usize::MAX);
        while let Some(current) = self.text.get(self.counted_bytes) {
            let ends_line = matches!(current, b'\n' | b'\r');
            if self.counted_bytes >= byte && !ends_line {
                break;
            }
            self.counted_bytes += 1;
            let is_half_of_crlf = *current == b'\r' && self.text.get(self.counted_bytes) == Some(&b'\n');
            self.line += usize::from(ends_line && !is_half_of_crlf);
        }
        self.line
    }
}

/// Converts a cell; `None` if it is empty. Only `true` and `false` become booleans; the field's parser refuses anything
/// else.
fn cell_value(name: &str, cell: &str) -> Option<(String, Value)> {
    let value = match cell {
        "" => return None,
        "true" if BOOLEAN_FIELDS.contains(&name) => Value::Bool(true),
        "false" if BOOLEAN_FIELDS.contains(&name) => Value::Bool(false),
        text => Value::String(text.to_owned()),
    };
    Some((name.to_owned(), value))
}

fn parse_json_lines(text: &str) -> Vec<ImportRow> {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines.map(|(at, line)| ImportRow { line: at + 1, fields: parse_object(line) }).collect()
}

fn too_long() -> String {
    "longer than 256 KiB".to_owned()
}

fn parse_object(line: &str) -> Result<Map<String, Value>, String> {
    if line.len() > ROW_BYTES_MAX {
        return Err(too_long());
    }
    serde_json::from_str(line).map_err(|cause| format!("not a JSON object (column {})", cause.column()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn cells_are_strings_or_booleans_and_empty_ones_are_absent() {
        let text = "email,first_name,manager,title\nann@a.example, Ann ,true,\n\"b@a.example\",\"B, \"\"x\"\"\",no,t\nshort\n";
        let rows = parse_csv(text).unwrap();
        let fields = |at: usize| Value::Object(rows[at].fields.clone().unwrap());
        assert_eq!(fields(0), json!({"email": "ann@a.example", "first_name": "Ann", "manager": true}));
        assert_eq!(
            fields(1),
            json!({"email": "b@a.example", "first_name": "B, \"x\"", "manager": "no", "title": "t"})
        );
        assert_eq!(rows[2].fields.as_ref().unwrap_err(), "1 cell, but the header has 4");
        assert_eq!(rows.iter().map(|row| row.line).collect::<Vec<_>>(), [2, 3, 4]);
        let unknown = parse_csv("email,wage\n").err().unwrap();
        assert!(unknown.contains("`wage`") && unknown.contains("custom_field_5"), "{unknown}");
        assert!(parse_csv("email,email\n").err().unwrap().contains("duplicate column"));
    }

    #[test]
    fn a_row_has_the_line_number_of_an_editor() {
        let check = |text: &str, expected: &[usize]| {
            let lines: Vec<usize> = parse_csv(text).unwrap().iter().map(|row| row.line).collect();
            assert_eq!(lines, expected, "{text:?}");
        };
        let text = "email,title\na@a.example,t\n\nb@a.example,\"over\ntwo lines\"\nshort\n\n\nc@a.example,t";
        for ending in ["\n", "\r\n", "\r"] {
            check(&text.replace('\n', ending), &[2, 4, 6, 9]);
        }
        check("email\r\n\"a@a.example\"\r\nb@a.example\r\n", &[2, 3]);
    }

    #[test]
    fn lines_are_objects() {
        let rows = parse_json_lines("{\"email\": \"a@a.example\", \"title\": null}\n\n[1]\n");
        assert_eq!(
            Value::Object(rows[0].fields.clone().unwrap()),
            json!({"email": "a@a.example", "title": null})
        );
        assert_eq!((rows[1].line, rows[1].fields.is_err()), (3, true));
        let long = "x".repeat(ROW_BYTES_MAX);
        let rows = parse_json_lines(&format!("{{\"email\": \"{long}\"}}"));
        assert!(rows[0].fields.as_ref().unwrap_err().contains("256 KiB"));
        let rows = parse_csv(&format!("email,title\na@a.example,{long}\nb@a.example,t\n")).unwrap();
        assert_eq!((rows[0].fields.is_err(), rows[1].fields.is_ok()), (true, true));
    }
}
