//! Examines the head of a request line by line.

use std::mem::take;
use std::ops::Range;

use super::body_framing::ChunkDecoder;
use super::request_line::RequestLine;
use super::{FrameAction, Framing, FramingError, header_fields};

const HEAD_BYTES_MAX: usize = 32 << 10;
/// The maximum number of headers that the parser accepts.
const FIELDS_MAX: usize = 96;
/// The length of a carriage return and a line feed.
const LINE_END_BYTES: usize = 2;

/// A partly read head.
#[derive(Debug, Default)]
pub(super) struct PartialHead {
    /// The number of examined bytes.
    examined: usize,
    /// The start of the last line.
    line_start: usize,
    /// Whether an empty line before the head was discarded.
    has_skipped_line: bool,
    facts: HeadFacts,
}

/// What the lines of a head contain.
#[derive(Debug, Default)]
struct HeadFacts {
    request: Option<RequestLine>,
    fields: usize,
    has_host: bool,
    length: Option<u64>,
    is_chunked: bool,
    expects: bool,
    /// The parts that are not passed on, sorted. The service does not need them.
    cuts: Vec<Range<usize>>,
}

/// What the examination of a complete head found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CompleteHead {
    /// Whether the client waits for `100 Continue` before it sends the body.
    pub(super) expects: bool,
    /// The parts that are not passed on, sorted.
    pub(super) cuts: Vec<Range<usize>>,
}

impl PartialHead {
    /// Examines the head. `bytes` must begin with the first byte of the head, even if earlier calls examined part of
    /// it. If the head is complete, also returns the position after it.
    pub(super) fn examine_bytes(
        &mut self,
        bytes: &[u8],
    ) -> Result<(FrameAction, Option<Framing>), FramingError> {
        let head = bytes.get(..HEAD_BYTES_MAX).unwrap_or(bytes);
        while let Some(at) = self.next_line(head)? {
            let line = head.get(at.clone()).unwrap_or_default();
            match (line, &self.facts.request) {
                // Some old clients send an empty line after a body.
                ([], None) if !self.has_skipped_line => {
                    *self = Self { has_skipped_line: true, ..Self::default() };
                    return Ok((FrameAction::Skip(LINE_END_BYTES), None));
                }
                ([], Some(request)) => {
                    let next = self.facts.framing_after_head(request)?;
                    let expects = self.facts.expects && !request.is_http_1_0;
                    let head = CompleteHead { expects, cuts: take(&mut self.facts.cuts) };
                    return Ok((FrameAction::Head(self.examined, head), Some(next)));
                }
                (line, None) => {
                    let request = RequestLine::parse(line)?;
                    self.facts.cuts.extend(request.removed_ranges(at.start));
                    self.facts.request = Some(request);
                }
                (line, Some(_)) => self.facts.examine_header(line, at)?,
            }
        }
        if bytes.len() > HEAD_BYTES_MAX { Err(FramingError::HeadSize) } else { Ok((FrameAction::More, None)) }
    }

    /// The position of the next line without its end, or `None` if the line is incomplete.
    fn next_line(&mut self, bytes: &[u8]) -> Result<Option<Range<usize>>, FramingError> {
        let unexamined = bytes.get(self.examined..).unwrap_or_default();
        let text =
            unexamined.iter().position(|byte| !header_fields::is_text(*byte)).unwrap_or(unexamined.len());
        self.examined += text;
        match (unexamined.get(text), unexamined.get(text + 1)) {
            (None, _) | (Some(b'\r'), None) => Ok(None),
            (Some(b'\r'), Some(b'\n')) => {
                let line = self.line_start..self.examined;
                self.examined += LINE_END_BYTES;
                self.line_start = self.examined;
                Ok(Some(line))
            }
            (Some(b'\r' | b'\n'), _) => Err(FramingError::LineEnd),
            _ => Err(FramingError::Control),
        }
    }
}

impl HeadFacts {
    fn examine_header(&mut self, line: &[u8], at: Range<usize>) -> Result<(), FramingError> {
        self.fields += 1;
        if self.fields > FIELDS_MAX {
            return Err(FramingError::HeadSize);
        }
        let (name, value) = header_fields::split_header(line)?;
        let is_name = |other: &str| name.eq_ignore_ascii_case(other.as_bytes());
        if is_name("host") {
            if self.has_host || !header_fields::is_host(value) {
                return Err(FramingError::Host);
            }
            self.has_host = true;
        } else if is_name("content-length") {
            if self.length.is_some() {
                return Err(FramingError::Length);
            }
            self.length = Some(header_fields::parse_length(value)?);
        } else if is_name("transfer-encoding") {
            if self.is_chunked || !value.eq_ignore_ascii_case(b"chunked") {
                return Err(FramingError::Encoding);
            }
            self.is_chunked = true;
        } else if is_name("upgrade") {
            // The service supports only HTTP/1.1, but actix-web would treat an offer of another protocol as a demand to
            // switch to it.
            self.cuts.push(at.start..at.end + LINE_END_BYTES);
        } else if is_name("connection") {
            let after_colon = line.get(name.len() + 1..).unwrap_or_default();
            let from = at.end - after_colon.trim_ascii_start().len();
            let cuts = header_fields::find_list_items(value, b"upgrade").into_iter();
            self.cuts.extend(cuts.map(|cut| from + cut.start..from + cut.end));
        } else if is_name("expect") {
            // actix-web would send `100 Continue` before the request has been checked.
            self.expects |= value.eq_ignore_ascii_case(b"100-continue");
            self.cuts.push(at.start..at.end + LINE_END_BYTES);
        }
        Ok(())
    }

    /// The position after the head: at the start of its body or, if it has none, before the next head.
    fn framing_after_head(&self, request: &RequestLine) -> Result<Framing, FramingError> {
        if !self.has_host && !request.is_http_1_0 {
            return Err(FramingError::Host);
        }
        match (self.is_chunked, self.length) {
            (true, None) if !request.is_http_1_0 => Ok(Framing::Chunks(ChunkDecoder::default())),
            (true, _) => Err(FramingError::Encoding),
            // Without a length, the body of an HTTP/1.0 request would extend to the end of the connection.
            (false, None) if request.is_http_1_0 && request.has_body => Err(FramingError::Length),
            (false, None | Some(0)) => Ok(Framing::new()),
            (false, Some(length)) => Ok(Framing::Length(length)),
        }
    }
}
