//! The file format of a company archive: JSON Lines, version 1, as docs/company-archive.md describes it. The rows of a
//! section are written and read in pages, so memory does not grow with the company.

mod header;
mod json_row;
mod reader;
mod writer;

pub(crate) use header::{ArchiveHeader, SealHeader};
#[cfg(feature = "testing")]
pub(crate) use json_row::format_row_again;
pub(crate) use reader::{ArchiveError, ArchiveReader};
pub(crate) use writer::ArchiveWriter;

use serde::{Deserialize, Serialize};

/// The line before the rows of a section.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SectionStart {
    section: String,
}

/// The line after the rows of a section.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SectionEnd {
    section_end: String,
    rows: u64,
    /// The digest of the lines of the rows, including their line feeds, in hexadecimal digits.
    sha256: String,
}

/// The line after the header.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct HeaderEnd {
    /// The digest of the header's line, including its line feed, in hexadecimal digits.
    header_sha256: String,
}

/// The last line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ArchiveEnd {
    /// The number of sections.
    archive_end: u64,
    /// The digest of the header's digest followed by the digests of all sections in order. All digests are written in
    /// hexadecimal digits.
    sha256: String,
}

#[cfg(test)]
mod tests;
