//! Parses the first line of a request.

use std::ops::Range;

use actix_web::http::Method;

use super::FramingError;
use super::header_fields::is_host;

const TARGET_SIZE_MAX: usize = 8 << 10;
/// Methods with a body. Without a length, the body of an HTTP/1.0 request would extend to the end of the connection.
const METHODS_WITH_BODY: [&[u8]; 3] = [b"POST", b"PUT", b"PATCH"];
/// Printable characters that a target may contain only percent-encoded.
const ENCODED_ONLY: &[u8] = b"\"#<>`";

/// The properties of the first line that matter for the framing.
#[derive(Debug)]
pub(super) struct RequestLine {
    /// Whether the version is HTTP/1.0, which has no chunked bodies.
    pub(super) is_http_1_0: bool,
    /// Whether the method has a body.
    pub(super) has_body: bool,
    /// The scheme and host of an absolute target, in one or two parts.
    origin_ranges: Vec<Range<usize>>,
}

impl RequestLine {
    pub(super) fn parse(line: &[u8]) -> Result<Self, FramingError> {
        let mut parts = line.split(|byte| *byte == b' ');
        let (Some(method), Some(target), Some(version), None) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(FramingError::RequestLine);
        };
        let is_http_1_0 = match version {
            b"HTTP/1.1" => false,
            b"HTTP/1.0" => true,
            _ => return Err(FramingError::RequestLine),
        };
        // The parser does not accept every token as a method. After a CONNECT request, the connection would no longer
        // carry HTTP.
        if Method::from_bytes(method).is_err() || method == b"CONNECT" {
            return Err(FramingError::RequestLine);
        }
        if target.len() > TARGET_SIZE_MAX {
            return Err(FramingError::HeadSize);
        }
        let is_allowed = |byte: &u8| byte.is_ascii_graphic() && !ENCODED_ONLY.contains(byte);
        if !target.iter().all(is_allowed) {
            return Err(FramingError::Target);
        }
        let origin_ranges = match target {
            [b'/', ..] => Vec::new(),
            b"*" if method == b"OPTIONS" => Vec::new(),
            _ => find_origin(target).ok_or(FramingError::Target)?,
        };
        let before = method.len() + 1;
        let origin_ranges =
            origin_ranges.into_iter().map(|range| range.start + before..range.end + before).collect();
        Ok(Self { is_http_1_0, has_body: METHODS_WITH_BODY.contains(&method), origin_ranges })
    }

    /// The parts of a line at `start` that are not passed on: the scheme and the host of an absolute target, so that
    /// only its path remains.
    pub(super) fn removed_ranges(&self, start: usize) -> impl Iterator<Item = Range<usize>> {
        self.origin_ranges.iter().map(move |range| range.start + start..range.end + start)
    }
}

/// The positions of the scheme and the host of an absolute target (RFC 9112, 3.2.2). If the target has no path, the
/// second slash before the host is not included and becomes the path.
fn find_origin(target: &[u8]) -> Option<Vec<Range<usize>>> {
    let has_scheme =
        |scheme: &&[u8]| target.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme));
    let scheme = [&b"http://"[..], b"https://"].into_iter().find(has_scheme)?.len();
    let rest = target.get(scheme..)?;
    let host = rest.iter().position(|byte| matches!(byte, b'/' | b'?')).unwrap_or(rest.len());
    if !is_host(rest.get(..host)?) {
        return None;
    }
    let end = scheme + host;
    if rest.get(host) == Some(&b'/') {
        return Some(vec![Range { start: 0, end }]);
    }
    Some(vec![0..scheme - 1, scheme..end])
}
