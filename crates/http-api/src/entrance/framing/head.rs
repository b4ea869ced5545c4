//! Examines the head of a request line by line.

use std::mem::take;
use std::ops::Range;

use super::request_line::RequestLine;
use super::{Judged, Refusal, fields};

const HEAD_BYTES_MAX: usize = 32 << 10;
/// The most headers that the parser accepts.
const FIELDS_MAX: usize = 96;
/// The length of a carriage return and a line feed.
const LINE_END_BYTES: usize = 2;

/// The body that follows a head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Body {
    Length(u64),
    Chunked,
}

/// A partly read head.
#[derive(Debug, Default)]
pub(super) struct Head {
    /// The number of examined bytes.
    seen: usize,
    /// The start of the last line.
    line: usize,
    /// Whether an empty line before the head was discarded.
    skipped: bool,
    facts: Facts,
}

/// What the lines of a head contain.
#[derive(Debug, Default)]
struct Facts {
    request: Option<RequestLine>,
    fields: usize,
    has_host: bool,
    length: Option<u64>,
    is_chunked: bool,
    expects: bool,
    /// The parts that are not passed on, sorted. Without them the head means the same to the service.
    cuts: Vec<Range<usize>>,
}

/// The result of a complete head.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Whole {
    pub(super) body: Body,
    /// Whether the client waits for `100 Continue` before it sends the body.
    pub(super) expects: bool,
    /// The parts that are not passed on, sorted.
    pub(super) cuts: Vec<Range<usize>>,
}

impl Head {
    /// Examines the bytes of the head, from its first one on.
    pub(super) fn judge(&mut self, bytes: &[u8]) -> Result<Judged, Refusal> {
        let within = bytes.get(..HEAD_BYTES_MAX).unwrap_or(bytes);
        while let Some(at) = self.next_line(within)? {
            let line = within.get(at.clone()).unwrap_or_default();
            match (line, &self.facts.request) {
                // Some old clients send an empty line after a body.
                ([], None) if !self.skipped => {
                    *self = Self { skipped: true, ..Self::default() };
                    return Ok(Judged::Skip(LINE_END_BYTES));
                }
                ([], Some(request)) => {
                    let (body, expects) = (self.facts.body(request)?, self.facts.expects && !request.is_old);
                    let cuts = take(&mut self.facts.cuts);
                    return Ok(Judged::Head(self.seen, Whole { body, expects, cuts }));
                }
                (line, None) => {
                    let request = RequestLine::parse(line)?;
                    self.facts.cuts.extend(request.cuts(at.start));
                    self.facts.request = Some(request);
                }
                (line, Some(_)) => self.facts.field(line, at)?,
            }
        }
        if bytes.len() > HEAD_BYTES_MAX { Err(Refusal::HeadSize) } else { Ok(Judged::More) }
    }

    /// The position of the next line without its end, or `None` if the line is incomplete.
    fn next_line(&mut self, bytes: &[u8]) -> Result<Option<Range<usize>>, Refusal> {
        let fresh = bytes.get(self.seen..).unwrap_or_default();
        let text = fresh.iter().position(|byte| !is_text(*byte)).unwrap_or(fresh.len());
        self.seen += text;
        match (fresh.get(text), fresh.get(text + 1)) {
            (None, _) | (Some(b'\r'), None) => Ok(None),
            (Some(b'\r'), Some(b'\n')) => {
                let line = self.line..self.seen;
                self.seen += LINE_END_BYTES;
                self.line = self.seen;
                Ok(Some(line))
            }
            (Some(b'\r' | b'\n'), _) => Err(Refusal::LineEnd),
            _ => Err(Refusal::Control),
        }
    }
}

/// Whether a line may contain a byte.
pub(super) fn is_text(byte: u8) -> bool {
    matches!(byte, b'\t' | b' '..=b'~' | 0x80..)
}

impl Facts {
    fn field(&mut self, line: &[u8], at: Range<usize>) -> Result<(), Refusal> {
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
        } else if is("upgrade") {
            // The service speaks only HTTP/1.1, but actix-web would treat the offer of another protocol as a request for it.
            self.cuts.push(at.start..at.end + LINE_END_BYTES);
        } else if is("connection") {
            let behind = name.len() + 1;
            let from = at.start + behind + fields::blanks(line.get(behind..).unwrap_or_default());
            let cuts = fields::items(value, b"upgrade").into_iter();
            self.cuts.extend(cuts.map(|cut| from + cut.start..from + cut.end));
        } else if is("expect") {
            // actix-web would send `100 Continue` before the request has been checked.
            self.expects |= value.eq_ignore_ascii_case(b"100-continue");
            self.cuts.push(at.start..at.end + LINE_END_BYTES);
        }
        Ok(())
    }

    fn body(&self, request: &RequestLine) -> Result<Body, Refusal> {
        if !self.has_host && !request.is_old {
            return Err(Refusal::Host);
        }
        match (self.is_chunked, self.length) {
            (true, None) if !request.is_old => Ok(Body::Chunked),
            (true, _) => Err(Refusal::Encoding),
            // In HTTP/1.0 such a body would end with the connection.
            (false, None) if request.is_old && request.takes_body => Err(Refusal::Length),
            (false, length) => Ok(Body::Length(length.unwrap_or(0))),
        }
    }
}
