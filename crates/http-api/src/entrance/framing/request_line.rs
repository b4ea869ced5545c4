//! The first line of a request.

use std::ops::Range;

use actix_web::http::Method;

use super::Refusal;
use super::fields::is_host;

const TARGET_SIZE_MAX: usize = 8 << 10;
/// Methods that take a body: in HTTP/1.0 one without a length would end where the connection does.
const WITH_BODY: [&[u8]; 3] = [b"POST", b"PUT", b"PATCH"];
/// What may stand in a target only percent-encoded, although it is visible.
const ENCODED_ONLY: &[u8] = b"\"#<>`";

/// What the first line means for the framing.
#[derive(Debug)]
pub(super) struct RequestLine {
    /// HTTP/1.0, which knows no chunks.
    pub(super) is_old: bool,
    /// Whether the method takes a body.
    pub(super) takes_body: bool,
    /// What of the line says where an absolute target is, before its path.
    origin: Vec<Range<usize>>,
}

impl RequestLine {
    pub(super) fn parse(line: &[u8]) -> Result<Self, Refusal> {
        let mut parts = line.split(|it| *it == b' ');
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
        // The parser behind takes not every token. What follows the head of a CONNECT is no HTTP.
        if Method::from_bytes(method).is_err() || method == b"CONNECT" {
            return Err(Refusal::RequestLine);
        }
        if target.len() > TARGET_SIZE_MAX {
            return Err(Refusal::HeadSize);
        }
        let is_sound = |it: &u8| it.is_ascii_graphic() && !ENCODED_ONLY.contains(it);
        if !target.iter().all(is_sound) {
            return Err(Refusal::Target);
        }
        let origin = match target {
            [b'/', ..] => Vec::new(),
            b"*" if method == b"OPTIONS" => Vec::new(),
            _ => origin(target).ok_or(Refusal::Target)?,
        };
        let before = method.len() + 1;
        let origin = origin.into_iter().map(|it| it.start + before..it.end + before).collect();
        Ok(Self { is_old, takes_body: WITH_BODY.contains(&method), origin })
    }

    /// What of the line, which begins at `start`, is not passed on: an absolute target means its path.
    pub(super) fn cuts(&self, start: usize) -> impl Iterator<Item = Range<usize>> {
        self.origin.iter().map(move |it| it.start + start..it.end + start)
    }
}

/// What stands before the path of an absolute target (RFC 9112, 3.2.2); where it has no path, one of the slashes before the
/// host stays for it.
fn origin(target: &[u8]) -> Option<Vec<Range<usize>>> {
    let is = |scheme: &&[u8]| target.get(..scheme.len()).is_some_and(|it| it.eq_ignore_ascii_case(scheme));
    let scheme = [&b"http://"[..], b"https://"].into_iter().find(is)?.len();
    let rest = target.get(scheme..)?;
    let host = rest.iter().position(|it| matches!(it, b'/' | b'?')).unwrap_or(rest.len());
    if !is_host(rest.get(..host)?) {
        return None;
    }
    let end = scheme + host;
    if rest.get(host) == Some(&b'/') {
        return Some(vec![Range { start: 0, end }]);
    }
    Some(vec![0..scheme - 1, scheme..end])
}
