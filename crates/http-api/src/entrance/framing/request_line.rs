//! Parses the first line of a request.

use std::ops::Range;

use actix_web::http::Method;

use super::Refusal;
use super::fields::is_host;

const TARGET_SIZE_MAX: usize = 8 << 10;
/// Methods with a body. In HTTP/1.0 a body without a length would end with the connection.
const WITH_BODY: [&[u8]; 3] = [b"POST", b"PUT", b"PATCH"];
/// Printable characters that a target may contain only percent-encoded.
const ENCODED_ONLY: &[u8] = b"\"#<>`";

/// The properties of the first line that matter for the framing.
#[derive(Debug)]
pub(super) struct RequestLine {
    /// Whether the version is HTTP/1.0, which has no chunked bodies.
    pub(super) is_old: bool,
    /// Whether the method has a body.
    pub(super) takes_body: bool,
    /// The parts of the line before the path of an absolute target.
    origin: Vec<Range<usize>>,
}

impl RequestLine {
    pub(super) fn parse(line: &[u8]) -> Result<Self, Refusal> {
        let mut parts = line.split(|byte| *byte == b' ');
        let (Some(method), Some(target), Some(version), None) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(Refusal::RequestLine);
        };
        let is_old = match version {
            b"HTTP/1.1" => false,
            b"HTTP/1.0" => true,
            _ => return Err(Refusal::RequestLine),
        };
        // The parser does not accept every token. After the head of a CONNECT the connection does not carry HTTP.
        if Method::from_bytes(method).is_err() || method == b"CONNECT" {
            return Err(Refusal::RequestLine);
        }
        if target.len() > TARGET_SIZE_MAX {
            return Err(Refusal::HeadSize);
        }
        let is_sound = |byte: &u8| byte.is_ascii_graphic() && !ENCODED_ONLY.contains(byte);
        if !target.iter().all(is_sound) {
            return Err(Refusal::Target);
        }
        let origin = match target {
            [b'/', ..] => Vec::new(),
            b"*" if method == b"OPTIONS" => Vec::new(),
            _ => origin(target).ok_or(Refusal::Target)?,
        };
        let before = method.len() + 1;
        let origin = origin.into_iter().map(|range| range.start + before..range.end + before).collect();
        Ok(Self { is_old, takes_body: WITH_BODY.contains(&method), origin })
    }

    /// The parts of the line that are not passed on, for a line that begins at `start`: an absolute target is reduced to its path.
    pub(super) fn cuts(&self, start: usize) -> impl Iterator<Item = Range<usize>> {
        self.origin.iter().map(move |range| range.start + start..range.end + start)
    }
}

/// The parts before the path of an absolute target (RFC 9112, 3.2.2). If it has no path, one of the slashes before the host is
/// kept as its path.
fn origin(target: &[u8]) -> Option<Vec<Range<usize>>> {
    let is =
        |scheme: &&[u8]| target.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme));
    let scheme = [&b"http://"[..], b"https://"].into_iter().find(is)?.len();
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
