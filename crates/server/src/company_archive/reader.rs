//! Reads an archive, and checks its format and its digests.

use std::fmt;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};

use data_encoding::HEXLOWER;
use guerdon_domain::ports::{ArchiveSection, ArchivedColumn, ArchivedRow};
use ring::digest::{Context, SHA256, digest};
use serde::de::DeserializeOwned;

use super::header::FormatHeader;
use super::json_row::parse_json_line;
use super::{ArchiveEnd, ArchiveHeader, HeaderEnd, SectionEnd, SectionStart};
use crate::platform::build_info::VERSION;

/// The maximum size of a line, so that a file without line feeds does not fill the memory.
const LINE_BYTES_MAX: u64 = 64 << 20;
/// The number of rows that are passed on together.
const ROWS_PER_BATCH: usize = 500;
/// A batch ends when its lines have this size, because a row may have more than a megabyte.
const BYTES_PER_BATCH: usize = 4 << 20;

/// Why an archive cannot be used, and what to do.
#[derive(Debug)]
pub(crate) struct ArchiveError(String);

impl fmt::Display for ArchiveError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// Reads an archive from its start.
pub(crate) struct ArchiveReader {
    path: PathBuf,
    lines: BufReader<File>,
    line_number: u64,
    line: String,
    header: ArchiveHeader,
    digests: Context,
}

impl ArchiveReader {
    /// Opens an archive and reads its header, whose digest must match.
    pub(crate) fn open(path: &Path) -> Result<Self, ArchiveError> {
        let file = File::open(path)
            .map_err(|cause| ArchiveError(format!("cannot read {}: {cause}", path.display())))?;
        let mut lines = BufReader::new(file);
        let mut line = String::new();
        let invalid = |why: &str| invalid_archive(path, 1, why);
        read_line(&mut lines, &mut line).map_err(|why| invalid(&why))?;
        let not_an_archive = |_cause| invalid("it is not a company archive");
        let format: FormatHeader = serde_json::from_str(&line).map_err(not_an_archive)?;
        if !format.is_company_archive() {
            return Err(invalid("it is not a company archive"));
        }
        if let Some(why) = format.version_mismatch() {
            return Err(other_release(path, &format.service_version, 1, &why));
        }
        let header: ArchiveHeader = serde_json::from_str(&line).map_err(|_cause| {
            unreadable(path, &format.service_version, 1, "the header has an unexpected form")
        })?;
        let header_sha256 = HEXLOWER.encode(digest(&SHA256, line.as_bytes()).as_ref());
        let mut digests = Context::new(&SHA256);
        digests.update(header_sha256.as_bytes());
        let mut reader =
            Self { path: path.to_path_buf(), lines, line_number: 1, line: String::new(), header, digests };
        if reader.next_line_as::<HeaderEnd>()? != (HeaderEnd { header_sha256 }) {
            return Err(reader.invalid("the digest of the header differs from the header"));
        }
        Ok(reader)
    }

    pub(crate) fn header(&self) -> &ArchiveHeader {
        &self.header
    }

    /// Reads all rows to the end of the file, and passes them on in batches of one section. Fails if the format or a
    /// digest is wrong; some rows may already have been passed on.
    pub(crate) fn read_rows<E: From<ArchiveError>>(
        mut self,
        columns_of: impl Fn(ArchiveSection) -> Vec<ArchivedColumn>,
        mut take: impl FnMut(ArchiveSection, Vec<ArchivedRow>, usize) -> Result<(), E>,
    ) -> Result<(), E> {
        for section in ArchiveSection::ALL {
            let start = SectionStart { section: section.name().to_owned() };
            if self.next_line_as::<SectionStart>()? != start {
                return Err(self.unreadable(&format!("section {} is missing", section.name())).into());
            }
            self.read_section(*section, &columns_of(*section), &mut take)?;
        }
        let sha256 = HEXLOWER.encode(self.digests.clone().finish().as_ref());
        let sections = u64::try_from(ArchiveSection::ALL.len()).unwrap_or_default();
        if self.next_line_as::<ArchiveEnd>()? != (ArchiveEnd { archive_end: sections, sha256 }) {
            return Err(self.invalid("the digest of the archive differs from its sections").into());
        }
        let mut rest = [0; 1];
        match self.lines.read(&mut rest) {
            Ok(0) => Ok(()),
            _ => Err(self.invalid("the file continues after the end of the archive").into()),
        }
    }

    fn read_section<E: From<ArchiveError>>(
        &mut self,
        section: ArchiveSection,
        columns: &[ArchivedColumn],
        take: &mut impl FnMut(ArchiveSection, Vec<ArchivedRow>, usize) -> Result<(), E>,
    ) -> Result<(), E> {
        let (mut section_digest, mut count, mut bytes) = (Context::new(&SHA256), 0_u64, 0);
        let mut batch = Vec::new();
        loop {
            self.next_line()?;
            if self.line.starts_with("{\"section_end\":") {
                break;
            }
            section_digest.update(self.line.as_bytes());
            count += 1;
            bytes += self.line.len();
            let row = parse_json_line(columns, &self.line).map_err(|why| self.unreadable(&why))?;
            batch.push(row);
            if batch.len() >= ROWS_PER_BATCH || bytes >= BYTES_PER_BATCH {
                take(section, std::mem::take(&mut batch), std::mem::take(&mut bytes))?;
            }
        }
        let sha256 = HEXLOWER.encode(section_digest.finish().as_ref());
        self.digests.update(sha256.as_bytes());
        let end = SectionEnd { section_end: section.name().to_owned(), rows: count, sha256 };
        if serde_json::from_str::<SectionEnd>(&self.line).ok() != Some(end) {
            let why = format!("the digest of section {} differs from its rows", section.name());
            return Err(self.invalid(&why).into());
        }
        if batch.is_empty() { Ok(()) } else { take(section, batch, bytes) }
    }

    fn next_line(&mut self) -> Result<(), ArchiveError> {
        self.line_number += 1;
        let read = read_line(&mut self.lines, &mut self.line);
        read.map_err(|why| self.invalid(&why))
    }

    fn next_line_as<T: DeserializeOwned>(&mut self) -> Result<T, ArchiveError> {
        self.next_line()?;
        serde_json::from_str(&self.line).map_err(|_cause| self.invalid("the line has an unexpected form"))
    }

    pub(crate) fn invalid(&self, why: &str) -> ArchiveError {
        invalid_archive(&self.path, self.line_number, why)
    }

    /// The error for content that another release may write in another form.
    fn unreadable(&self, why: &str) -> ArchiveError {
        unreadable(&self.path, self.header.service_version(), self.line_number, why)
    }
}

/// The error for an archive from this release that is damaged, or for one that another release wrote.
fn unreadable(path: &Path, service_version: &str, line: u64, why: &str) -> ArchiveError {
    if service_version == VERSION {
        invalid_archive(path, line, why)
    } else {
        other_release(path, service_version, line, why)
    }
}

fn other_release(path: &Path, service_version: &str, line: u64, why: &str) -> ArchiveError {
    ArchiveError(format!(
        "guerdon {service_version} wrote {}, and guerdon {VERSION} cannot read it (line {line}: {why}): nothing was \
         imported; both cells need the same release: upgrade the older one, and export the company again",
        path.display()
    ))
}

fn invalid_archive(path: &Path, line: u64, why: &str) -> ArchiveError {
    ArchiveError(format!(
        "{} is damaged or incomplete (line {line}: {why}): nothing was imported; export the company again, or copy the file \
         again",
        path.display()
    ))
}

/// Reads a line with its line feed. Fails at the end of the file.
fn read_line(lines: &mut BufReader<File>, line: &mut String) -> Result<(), String> {
    line.clear();
    let read = lines.by_ref().take(LINE_BYTES_MAX).read_line(line);
    match read {
        Ok(_) if line.ends_with('\n') => Ok(()),
        Ok(_) if u64::try_from(line.len()) == Ok(LINE_BYTES_MAX) => Err("the line is too long".to_owned()),
        Ok(_) => Err("the file ends here".to_owned()),
        Err(cause) => Err(cause.to_string()),
    }
}
