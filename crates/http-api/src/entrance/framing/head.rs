//! The head of a request, line by line.

use super::request_line::RequestLine;
use super::{Judged, Refusal, fields};

const SIZE_MAX: usize = 32 << 10;
/// What the parser underneath can hold.
const FIELDS_MAX: usize = 96;

/// What follows a head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Body {
    Length(u64),
    Chunked,
}

/// A head, as far as it was read.
#[derive(Debug, Default)]
pub(super) struct Head {
    /// How many of its bytes were looked at.
    seen: usize,
    /// Where its last line begins.
    line: usize,
    /// Whether an empty line before it was dropped.
    skipped: bool,
    facts: Facts,
}

/// What the lines of a head say.
#[derive(Debug, Default)]
struct Facts {
    request: Option<RequestLine>,
    fields: usize,
    has_host: bool,
    length: Option<u64>,
    is_chunked: bool,
}

impl Head {
    /// Judges the head's bytes, from its first one on; what follows it where it is whole.
    pub(super) fn judge(&mut self, bytes: &[u8]) -> Result<(Judged, Option<Body>), Refusal> {
        let within = bytes.get(..SIZE_MAX).unwrap_or(bytes);
        while let Some(line) = self.next_line(within)? {
            match (line, &self.facts.request) {
                // Old clients send an empty line behind a body.
                ([], None) if !self.skipped => {
                    *self = Self { skipped: true, ..Self::default() };
                    return Ok((Judged::Skip(2), None));
                }
                ([], Some(request)) => {
                    return Ok((Judged::Pass(self.seen), Some(self.facts.body(request)?)));
                }
                (line, None) => self.facts.request = Some(RequestLine::parse(line)?),
                (line, Some(_)) => self.facts.field(line)?,
            }
        }
        if bytes.len() > SIZE_MAX { Err(Refusal::HeadSize) } else { Ok((Judged::More, None)) }
    }

    /// The next line without its end, where it is whole.
    fn next_line<'a>(&mut self, bytes: &'a [u8]) -> Result<Option<&'a [u8]>, Refusal> {
        let fresh = bytes.get(self.seen..).unwrap_or_default();
        let text = fresh.iter().position(|it| !is_text(*it)).unwrap_or(fresh.len());
        self.seen += text;
        match (fresh.get(text), fresh.get(text + 1)) {
            (None, _) | (Some(b'\r'), None) => Ok(None),
            (Some(b'\r'), Some(b'\n')) => {
                let line = bytes.get(self.line..self.seen);
                self.seen += 2;
                self.line = self.seen;
                Ok(line)
            }
            (Some(b'\r' | b'\n'), _) => Err(Refusal::LineEnd),
            _ => Err(Refusal::Control),
        }
    }
}

fn is_text(byte: u8) -> bool {
    matches!(byte, b'\t' | b' '..=b'~' | 0x80..)
}

impl Facts {
    fn field(&mut self, line: &[u8]) -> Result<(), Refusal> {
        self.fields += 1;
        if self.fields > FIELDS_MAX {
            return Err(Refusal::HeadSize);
        }
        let (name, value) = fields::split(line)?;
        let is = |other: &str| name.eq_ignore_ascii_case(other.as_bytes());
        if is("host") {
            if self.has_host || !fields::is_host(value) {
                return Err(Refusal::Host);
            }
            self.has_host = true;
        } else if is("content-length") {
            if self.length.is_some() {
                return Err(Refusal::Length);
            }
            self.length = Some(fields::length(value)?);
        } else if is("transfer-encoding") {
            if self.is_chunked || !value.eq_ignore_ascii_case(b"chunked") {
                return Err(Refusal::Encoding);
            }
            self.is_chunked = true;
        } else if is("upgrade") && fields::is_web_socket(value) {
            return Err(Refusal::Upgrade);
        }
        Ok(())
    }

    fn body(&self, request: &RequestLine) -> Result<Body, Refusal> {
        if !self.has_host && !request.is_old {
            return Err(Refusal::Host);
        }
        match (self.is_chunked, self.length) {
            (true, None) if !request.is_old && request.takes_body => Ok(Body::Chunked),
            (true, _) => Err(Refusal::Encoding),
            // In HTTP/1.0 such a body would end where the connection does.
            (false, None) if request.is_old && request.takes_body => Err(Refusal::Length),
            (false, length) => Ok(Body::Length(length.unwrap_or(0))),
        }
    }
}
