//! Writes an archive.

use std::io::{self, Write};

use data_encoding::HEXLOWER;
use guerdon_domain::ports::{ArchiveSection, ArchivedColumn, ArchivedRow};
use ring::digest::{Context, SHA256, digest};
use serde::Serialize;

use super::json_row::to_json_line;
use super::{ArchiveEnd, ArchiveHeader, HeaderEnd, SectionEnd, SectionStart};

/// Writes the sections of an archive one after the other. The archive is complete after [`finish`](Self::finish).
pub(crate) struct ArchiveWriter<W> {
    out: W,
    /// The digests of the header and of the finished sections, in hexadecimal digits.
    digests: Context,
    sections: u64,
    /// The digest and the number of rows of the section that is being written.
    section_digest: Context,
    rows: u64,
}

impl<W: Write> ArchiveWriter<W> {
    /// Writes the header.
    pub(crate) fn start(mut out: W, header: &ArchiveHeader) -> io::Result<Self> {
        let line = to_line(header)?;
        out.write_all(line.as_bytes())?;
        let header_sha256 = HEXLOWER.encode(digest(&SHA256, line.as_bytes()).as_ref());
        let mut digests = Context::new(&SHA256);
        digests.update(header_sha256.as_bytes());
        out.write_all(to_line(&HeaderEnd { header_sha256 })?.as_bytes())?;
        Ok(Self { out, digests, sections: 0, section_digest: Context::new(&SHA256), rows: 0 })
    }

    pub(crate) fn start_section(&mut self, section: ArchiveSection) -> io::Result<()> {
        (self.section_digest, self.rows) = (Context::new(&SHA256), 0);
        let line = to_line(&SectionStart { section: section.name().to_owned() })?;
        self.out.write_all(line.as_bytes())
    }

    pub(crate) fn write_rows(&mut self, columns: &[ArchivedColumn], rows: &[ArchivedRow]) -> io::Result<()> {
        for row in rows {
            let mut line = to_json_line(columns, row)?;
            line.push('\n');
            self.section_digest.update(line.as_bytes());
            self.out.write_all(line.as_bytes())?;
            self.rows += 1;
        }
        Ok(())
    }

    pub(crate) fn end_section(&mut self, section: ArchiveSection) -> io::Result<()> {
        let sha256 = HEXLOWER.encode(self.section_digest.clone().finish().as_ref());
        self.digests.update(sha256.as_bytes());
        self.sections += 1;
        let end = SectionEnd { section_end: section.name().to_owned(), rows: self.rows, sha256 };
        self.out.write_all(to_line(&end)?.as_bytes())
    }

    /// Writes the last line, and everything that is buffered.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        let sha256 = HEXLOWER.encode(self.digests.finish().as_ref());
        let end = ArchiveEnd { archive_end: self.sections, sha256 };
        self.out.write_all(to_line(&end)?.as_bytes())?;
        self.out.flush()
    }
}

fn to_line(value: &impl Serialize) -> serde_json::Result<String> {
    let mut line = serde_json::to_string(value)?;
    line.push('\n');
    Ok(line)
}
