//! Reads the records of a CSV file. Cells are separated by commas, semicolons or tabs: spreadsheets use semicolons in
//! countries where the comma is the decimal separator, and tabs in their Unicode format.

use csv::StringRecord;
use guerdon_api_types::requests::importable_user_fields;
use serde_json::Value;

use super::row::{ROW_BYTES_MAX, RowFields, too_long};

/// The possible separators, in order of preference.
const SEPARATORS: [u8; 3] = [b',', b';', b'\t'];
/// The fields whose cells are booleans.
const BOOLEAN_FIELDS: [&str; 3] = ["manager", "company_admin", "corporation_admin"];

/// The header of a file, and the separator of its cells.
#[derive(Debug)]
pub(super) struct CsvHeader {
    columns: StringRecord,
    separator: u8,
}

impl CsvHeader {
    /// Reads the first record of a file. Chooses the separator that yields the most known columns.
    pub(super) fn read(text: &str) -> Result<Self, String> {
        if text.trim().is_empty() {
            return Err("it is empty: the first line must list the fields".to_owned());
        }
        let known = importable_user_fields();
        let is_known = |column: &str| known.iter().any(|name| name == column);
        let mut best: Option<(usize, Self)> = None;
        for separator in SEPARATORS {
            let columns = reader(text, separator).headers().map_err(|cause| cause.to_string())?.clone();
            let count = columns.iter().filter(|column| is_known(column)).count();
            if best.as_ref().is_none_or(|(most, _)| count > *most) {
                best = Some((count, Self { columns, separator }));
            }
        }
        let (_, header) = best.ok_or("it is empty")?;
        if let Some(unknown) = header.columns.iter().find(|column| !is_known(column)) {
            return Err(format!(
                "unknown column `{unknown}`; columns are separated by commas, semicolons or tabs; known columns: {}",
                known.join(", ")
            ));
        }
        if let Some(duplicate) = header.find_duplicate() {
            return Err(format!("duplicate column `{duplicate}`"));
        }
        Ok(header)
    }

    fn find_duplicate(&self) -> Option<&str> {
        let mut columns = self.columns.iter().enumerate();
        columns
            .find(|(at, column)| self.columns.iter().take(*at).any(|one| one == *column))
            .map(|(_, name)| name)
    }

    /// Returns the records after the header. For each record, returns its position, and its fields or the reason why
    /// they are invalid. The position may be that of line ends directly before the record.
    pub(super) fn into_records(self, text: &str) -> impl Iterator<Item = (u64, RowFields)> {
        reader(text, self.separator).into_records().map(move |record| {
            let (position, fields) = match &record {
                Ok(record) => (record.position(), self.record_fields(record)),
                Err(cause) => (cause.position(), Err(describe_csv_error(cause))),
            };
            (position.map_or(0, csv::Position::byte), fields)
        })
    }

    fn record_fields(&self, record: &StringRecord) -> RowFields {
        if record.as_slice().len() > ROW_BYTES_MAX {
            return Err(too_long());
        }
        Ok(self.columns.iter().zip(record).filter_map(|(name, cell)| cell_value(name, cell)).collect())
    }
}

fn reader(text: &str, separator: u8) -> csv::Reader<&[u8]> {
    csv::ReaderBuilder::new().delimiter(separator).trim(csv::Trim::All).from_reader(text.as_bytes())
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

/// Converts a cell. Returns `None` if it is empty. For boolean fields, only `true` and `false` become booleans, and the
/// field's parser refuses other values.
fn cell_value(name: &str, cell: &str) -> Option<(String, Value)> {
    let value = match cell {
        "" => return None,
        "true" if BOOLEAN_FIELDS.contains(&name) => Value::Bool(true),
        "false" if BOOLEAN_FIELDS.contains(&name) => Value::Bool(false),
        text => Value::String(text.to_owned()),
    };
    Some((name.to_owned(), value))
}

#[cfg(test)]
mod tests {
    use super::CsvHeader;

    #[test]
    fn cells_are_separated_by_commas_semicolons_or_tabs() {
        let check = |text: &str, expected: Result<u8, &str>| match (CsvHeader::read(text), expected) {
            (Ok(header), Ok(separator)) => assert_eq!(header.separator, separator, "{text:?}"),
            (Err(why), Err(expected)) => assert!(why.starts_with(expected), "{text:?}: {why}"),
            (found, expected) => panic!("{text:?}: {found:?}, not {expected:?}"),
        };
        check("email,first_name\n", Ok(b','));
        check("email\n", Ok(b','));
        check("\"email\";first_name\r\n\"a;b\";c\r\n", Ok(b';'));
        check("email\tfirst_name\ttitle", Ok(b'\t'));
        let separated = "columns are separated by commas, semicolons or tabs";
        check("email;wage\n", Err(&format!("unknown column `wage`; {separated}; known columns: email,")));
        check(" \n", Err("it is empty"));
        check("wage;salary\n", Err("unknown column `wage;salary`"));
        check("email,email\n", Err("duplicate column `email`"));
    }
}
