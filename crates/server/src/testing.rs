//! The parsers of this crate, for fuzzing.

use std::path::Path;

use guerdon_domain::ports::Timestamp;
use serde_json::{Map, Value};

use crate::commands::testing::{
    ImportFormat, parse_metadata, parse_points, parse_time, read_whole_and_in_parts,
};
use crate::company_archive::format_row_again;
use crate::settings::Settings;

/// Rows of an import file, each with its line number, and its fields or the reason why they are invalid.
pub type ImportedRows = Vec<(usize, Result<Map<String, Value>, String>)>;

/// Reads a file of users, as a whole and in parts of `size` rows. Fails if the file has no valid header.
pub fn read_import(text: &str, is_csv: bool, size: usize) -> Result<[ImportedRows; 2], String> {
    let format = if is_csv { ImportFormat::Csv } else { ImportFormat::Jsonl };
    read_whole_and_in_parts(format, text, size)
}

/// Reads a row of a company archive with the columns `flag`, `integer`, `text`, `bytes`, `id` and `time`, and formats
/// it again; `None` if it is not valid.
pub fn format_archive_row_again(line: &str) -> Option<String> {
    format_row_again(line)
}

/// Reads the metadata of an identity provider. Returns its entity id, sign-on URL and certificates.
pub fn read_saml_metadata(text: &str) -> Result<(String, String, Vec<String>), String> {
    parse_metadata(text).map(|found| (found.entity_id, found.sign_on_url, found.certificates))
}

/// Reads a settings file. Returns all settings in the same format, with secrets masked.
pub fn read_settings(file: &Path) -> Result<String, String> {
    let settings = Settings::from_sources(Some(file), std::iter::empty());
    settings.map(|settings| settings.to_masked().to_toml()).map_err(|cause| format!("{cause:#}"))
}

/// Parses a time or an age on a command line, and a number of points.
pub fn read_arguments(text: &str, now: Timestamp) -> (Option<Timestamp>, Option<i64>) {
    (parse_time(text, now).ok(), parse_points(text).ok())
}
