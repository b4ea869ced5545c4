//! The output of a command, as text and as JSON. The process in which the command runs renders it.

use guerdon_console::numbers;
use serde::{Deserialize, Serialize};

use super::CommandError;

/// The format of the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Format {
    /// Readable text.
    Text,
    /// One JSON object, or an array for a list.
    Json,
}

/// The output and exit status of a command.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CommandOutput {
    /// The readable text.
    pub(crate) text: String,
    /// The JSON, on one line.
    pub(crate) json: String,
    /// The exit status.
    pub(crate) status: u8,
    /// Lines for standard error, such as the rows of an import that were refused.
    #[serde(default)]
    pub(crate) notes: Vec<String>,
}

impl CommandOutput {
    /// Returns the text or the JSON, without a final line feed.
    pub(crate) fn in_format(&self, format: Format) -> &str {
        match format {
            Format::Text => &self.text,
            Format::Json => &self.json,
        }
    }
}

/// The result of a command. Its fields are the JSON output, and `to_text` returns the output for people.
pub(crate) trait CommandView: Serialize {
    fn to_text(&self) -> String;

    fn to_output(&self) -> Result<CommandOutput, CommandError> {
        let json = serde_json::to_string(self)?;
        Ok(CommandOutput { text: self.to_text(), json, ..CommandOutput::default() })
    }
}

/// A result whose text was rendered by the caller.
#[derive(Serialize)]
pub(super) struct WithText<T> {
    #[serde(flatten)]
    pub(super) fields: T,
    #[serde(skip)]
    pub(super) text: String,
}

impl<T: Serialize> CommandView for WithText<T> {
    fn to_text(&self) -> String {
        self.text.clone()
    }
}

/// Formats a value, or `-` instead of a missing one.
pub(crate) fn or_dash(value: Option<impl ToString>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| value.to_string())
}

/// Formats a number with thousands separators.
pub(crate) fn format_number(count: usize) -> String {
    numbers::format_integer(i64::try_from(count).unwrap_or(i64::MAX))
}

/// Formats a count with its noun: `1 user`, `12,345 users`.
pub(crate) fn format_count(count: usize, one: &str, many: &str) -> String {
    numbers::count_with_noun(u64::try_from(count).unwrap_or(u64::MAX), one, many)
}

/// Formats names, in lower case, and values in two columns.
pub(crate) fn format_fields(rows: &[(&str, &str)]) -> String {
    let width = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let lines: Vec<String> =
        rows.iter().map(|(name, value)| format!("{:width$}  {value}", name.to_lowercase())).collect();
    lines.join("\n")
}

/// Formats rows under a header line, with aligned columns.
pub(super) fn format_table(header: &[&str], rows: &[Vec<String>]) -> String {
    let header: Vec<String> = header.iter().map(|title| title.to_uppercase()).collect();
    let all: Vec<&Vec<String>> = std::iter::once(&header).chain(rows).collect();
    let width = |column: usize| {
        let cells = all.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..header.len()).map(width).collect();
    let line = |row: &&Vec<String>| {
        let cells: Vec<String> =
            row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}", width = *width)).collect();
        cells.join("  ").trim_end().to_owned()
    };
    all.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::{format_fields, format_table};

    #[test]
    fn columns_are_aligned() {
        let rows = vec![vec!["1".to_owned(), "Ä".to_owned(), "x".to_owned()]];
        assert_eq!(format_table(&["id", "name", "k"], &rows), "ID  NAME  K\n1   Ä     x");
        assert_eq!(format_fields(&[("id", "1"), ("points", "2")]), "id      1\npoints  2");
    }
}
