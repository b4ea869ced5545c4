//! A row of a file to import.

use serde_json::{Map, Value};

/// The maximum length of a row, which is far more than any user needs.
pub(super) const ROW_BYTES_MAX: usize = 256 << 10;

/// The fields of a row as in a request body of the API, or the reason why the row is invalid.
pub(super) type RowFields = Result<Map<String, Value>, String>;

/// A row of a file.
#[derive(Debug, Clone)]
pub(crate) struct ImportRow {
    /// The number of the line in which the row begins.
    pub(crate) line: usize,
    pub(crate) fields: RowFields,
}

pub(super) fn too_long() -> String {
    "longer than 256 KiB".to_owned()
}
