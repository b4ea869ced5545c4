//! A file to import. Its text is kept in memory, and sent to a running service, as it was read. Rows are parsed one
//! after the other, because parsed rows need many times the memory of their text.

use std::convert::Infallible;
use std::fmt;
use std::path::Path;

use serde::de::{Deserializer, Error as _, MapAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::csv_records::CsvHeader;
use super::line_numbers::LineNumbers;
use super::row::{ImportRow, ROW_BYTES_MAX, RowFields, too_long};
use crate::commands::arguments::text_file::read_text_file;

const FILE_BYTES_MAX: u64 = 256 << 20;

/// The format of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum FileFormat {
    /// A header line with the names of the fields, then a line for each user
    Csv,
    /// A JSON object on each line
    Jsonl,
}

/// A file, or a part of a file.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct ImportFile {
    name: String,
    text: String,
    /// The number to add to the number of a line in `text` to get its number in the whole file. In a part of a file,
    /// `text` begins with a copy of the header.
    line_offset: usize,
}

/// The position at which a row begins.
#[derive(Debug, Clone, Copy)]
pub(super) struct RowStart {
    byte: usize,
    /// The number of the line in this file or part.
    pub(super) line: usize,
}

/// Reads a file. A failure is returned as part of the value, so that the command reports it.
pub(super) fn read_import_file(name: &str) -> Result<Result<ImportFile, String>, Infallible> {
    read_text_file(name, (FILE_BYTES_MAX, "larger than 256 MiB: import it in parts"), |text| {
        Ok(ImportFile::with_text(name, text))
    })
}

impl ImportFile {
    pub(super) fn with_text(name: &str, text: String) -> Self {
        Self { name: name.to_owned(), text, line_offset: 0 }
    }

    /// Returns the format that the extension of the name stands for.
    pub(super) fn format_by_extension(&self) -> Result<FileFormat, String> {
        let extension = Path::new(&self.name).extension().and_then(|extension| extension.to_str());
        match extension.map(str::to_ascii_lowercase).as_deref() {
            Some("csv") => Ok(FileFormat::Csv),
            Some("jsonl" | "ndjson") => Ok(FileFormat::Jsonl),
            _ => {
                Err(self
                    .describe("the name does not end in .csv or .jsonl: pass --format csv or --format jsonl"))
            }
        }
    }

    /// Reads all rows. Fails if the file has no valid header.
    pub(super) fn rows(&self, format: FileFormat) -> Result<impl Iterator<Item = ImportRow> + '_, String> {
        let line_offset = self.line_offset;
        let to_row =
            move |(start, fields): (RowStart, _)| ImportRow { line: start.line + line_offset, fields };
        Ok(self.located_rows(format)?.map(to_row))
    }

    /// Finds where each row begins. Fails if the file has no valid header.
    pub(super) fn find_rows(&self, format: FileFormat) -> Result<Vec<RowStart>, String> {
        Ok(self.located_rows(format)?.map(|(start, _)| start).collect())
    }

    fn located_rows(
        &self,
        format: FileFormat,
    ) -> Result<Box<dyn Iterator<Item = (RowStart, RowFields)> + '_>, String> {
        Ok(match format {
            FileFormat::Csv => {
                let header = CsvHeader::read(&self.text).map_err(|why| self.describe(&why))?;
                let mut lines = LineNumbers::for_text(&self.text);
                Box::new(header.into_records(&self.text).map(move |(byte, fields)| {
                    let (byte, line) = lines.find_line_start(byte);
                    (RowStart { byte, line }, fields)
                }))
            }
            FileFormat::Jsonl => Box::new(self.json_lines().map(|(start, line)| (start, parse_object(line)))),
        })
    }

    /// Returns the part of this file that contains the rows at the positions `rows` of `starts`.
    pub(super) fn with_rows(&self, starts: &[RowStart], rows: std::ops::Range<usize>) -> Self {
        let byte_at = |index: usize| starts.get(index).map_or(self.text.len(), |start| start.byte);
        let line_at = |index: usize| starts.get(index).map_or(0, |start| start.line);
        let header = self.text.get(..byte_at(0)).unwrap_or_default();
        let body = self.text.get(byte_at(rows.start)..byte_at(rows.end)).unwrap_or_default();
        let line_offset = self.line_offset + line_at(rows.start).saturating_sub(line_at(0));
        Self { name: self.name.clone(), text: [header, body].concat(), line_offset }
    }

    /// Returns the lines that are not blank.
    fn json_lines(&self) -> impl Iterator<Item = (RowStart, &str)> {
        let mut next_byte = 0;
        let lines = self.text.split_inclusive('\n').enumerate().map(move |(index, line)| {
            let start = RowStart { byte: next_byte, line: index + 1 };
            next_byte += line.len();
            (start, line)
        });
        lines.filter(|(_, line)| !line.trim().is_empty())
    }

    fn describe(&self, why: &str) -> String {
        format!("{}: {why}", self.name)
    }
}

/// Reads rows with the numbers of their lines, from the whole text and from parts of `size` rows, for tests and
/// fuzzing. Fails if the text has no valid header.
#[cfg(any(test, feature = "testing"))]
pub(crate) fn read_whole_and_in_parts(
    format: FileFormat,
    text: &str,
    size: usize,
) -> Result<[Vec<(usize, RowFields)>; 2], String> {
    let file = ImportFile::with_text("people.csv", text.to_owned());
    let describe = |row: ImportRow| (row.line, row.fields);
    let whole = file.rows(format)?.map(describe).collect();
    let starts = file.find_rows(format)?;
    let mut in_parts = Vec::new();
    for first in (0..starts.len()).step_by(size.max(1)) {
        let part = file.with_rows(&starts, first..(first + size.max(1)).min(starts.len()));
        in_parts.extend(part.rows(format)?.map(describe));
    }
    Ok([whole, in_parts])
}

fn parse_object(line: &str) -> RowFields {
    if line.len() > ROW_BYTES_MAX {
        return Err(too_long());
    }
    serde_json::from_str(line).map(|DistinctFields(fields)| fields).map_err(|cause| {
        let is_object = serde_json::from_str::<Map<String, Value>>(line).is_ok();
        let fault = if is_object { "a field occurs twice" } else { "not a JSON object" };
        format!("{fault} (column {})", cause.column())
    })
}

/// The fields of an object in which no name occurs twice, as in a request body of the API.
struct DistinctFields(Map<String, Value>);

impl<'de> Deserialize<'de> for DistinctFields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(FieldsVisitor).map(Self)
    }
}

struct FieldsVisitor;

impl<'de> Visitor<'de> for FieldsVisitor {
    type Value = Map<String, Value>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
        let mut fields = Map::new();
        while let Some((name, value)) = entries.next_entry::<String, Value>()? {
            if fields.insert(name, value).is_some() {
                return Err(A::Error::custom("a field occurs twice"));
            }
        }
        Ok(fields)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn file_with(text: &str) -> ImportFile {
        ImportFile::with_text("people.csv", text.to_owned())
    }

    fn read_rows(format: FileFormat, text: &str) -> Vec<ImportRow> {
        file_with(text).rows(format).unwrap().collect()
    }

    #[test]
    fn cells_are_strings_or_booleans_and_empty_ones_are_absent() {
        let text = "email,first_name,manager,title\nann@a.example, Ann ,true,\n\"b@a.example\",\"B, \"\"x\"\"\",no,t\nshort\n";
        for separator in [",", ";", "\t"] {
            let rows = read_rows(FileFormat::Csv, &text.replace(',', separator));
            let fields = |at: usize| Value::Object(rows[at].fields.clone().unwrap());
            assert_eq!(fields(0), json!({"email": "ann@a.example", "first_name": "Ann", "manager": true}));
            let name = format!("B{separator} \"x\"");
            assert_eq!(
                fields(1),
                json!({"email": "b@a.example", "first_name": name, "manager": "no", "title": "t"})
            );
            assert_eq!(rows[2].fields.as_ref().unwrap_err(), "1 cell, but the header has 4");
            assert_eq!(rows.iter().map(|row| row.line).collect::<Vec<_>>(), [2, 3, 4]);
        }
        let unknown = file_with("email,wage\n").rows(FileFormat::Csv).err().unwrap();
        assert!(unknown.starts_with("people.csv: unknown column `wage`"), "{unknown}");
    }

    #[test]
    fn a_row_has_the_line_number_of_an_editor() {
        let check = |text: &str, expected: &[usize]| {
            let lines: Vec<usize> = read_rows(FileFormat::Csv, text).iter().map(|row| row.line).collect();
            assert_eq!(lines, expected, "{text:?}");
        };
        let text = "email,title\na@a.example,t\n\nb@a.example,\"over\ntwo lines\"\nshort\n\n\nc@a.example,t";
        for ending in ["\n", "\r\n", "\r"] {
            check(&text.replace('\n', ending), &[2, 4, 6, 9]);
        }
        check("email\r\n\"a@a.example\"\r\nb@a.example\r\n", &[2, 3]);
    }

    #[test]
    fn parts_have_the_rows_and_line_numbers_of_the_whole_file() {
        let check = |format: FileFormat, text: &str| {
            let count = read_rows(format, text).len();
            for size in 1..=count + 1 {
                let [whole, parts] = read_whole_and_in_parts(format, text, size).unwrap();
                assert_eq!(parts, whole, "{size} rows of {text:?}");
                assert_eq!(whole.len(), count);
            }
        };
        let csv = "email;title\n\na@a.example;t\n\nb@a.example;\"over\ntwo lines\"\nshort\n\n\nc@a.example;t";
        for ending in ["\n", "\r\n", "\r"] {
            check(FileFormat::Csv, &csv.replace('\n', ending));
        }
        check(FileFormat::Csv, "email\n");
        check(FileFormat::Jsonl, "\n{\"email\": \"a@a.example\"}\n\n[1]\r\n  \n{}");
    }

    #[test]
    fn lines_are_objects() {
        let rows = read_rows(FileFormat::Jsonl, "{\"email\": \"a@a.example\", \"title\": null}\n\n[1]\n");
        assert_eq!(
            Value::Object(rows[0].fields.clone().unwrap()),
            json!({"email": "a@a.example", "title": null})
        );
        assert_eq!(
            (rows[1].line, rows[1].fields.clone().unwrap_err()),
            (3, "not a JSON object (column 0)".into())
        );
        let rows = read_rows(FileFormat::Jsonl, r#"{"email": "a@a.example", "email": "b@a.example"}"#);
        assert_eq!(rows[0].fields.clone().unwrap_err(), "a field occurs twice (column 48)");
        let long = "x".repeat(ROW_BYTES_MAX);
        let rows = read_rows(FileFormat::Jsonl, &format!("{{\"email\": \"{long}\"}}"));
        assert!(rows[0].fields.as_ref().unwrap_err().contains("256 KiB"));
        let rows = read_rows(FileFormat::Csv, &format!("email,title\na@a.example,{long}\nb@a.example,t\n"));
        assert_eq!((rows[0].fields.is_err(), rows[1].fields.is_ok()), (true, true));
    }

    #[test]
    fn the_format_follows_from_the_name() {
        let format = |name: &str| ImportFile::with_text(name, String::new()).format_by_extension();
        assert_eq!(format("a.CSV"), Ok(FileFormat::Csv));
        assert_eq!(format("a.jsonl"), Ok(FileFormat::Jsonl));
        assert!(format("a.txt").unwrap_err().contains("--format csv"));
    }
}
