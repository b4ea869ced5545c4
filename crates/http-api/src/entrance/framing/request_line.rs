//! The first line of a request.

use super::Refusal;
use super::fields::is_token;

const TARGET_SIZE_MAX: usize = 8 << 10;
/// Methods that take a body. That a chunked body is sound is known only at its end, and only a handler that reads the
/// body waits for that.
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
        // What follows the head of a CONNECT is no HTTP.
        if !is_token(method) || method == b"CONNECT" {
            return Err(Refusal::RequestLine);
        }
        if target.len() > TARGET_SIZE_MAX {
            return Err(Refusal::HeadSize);
        }
        let is_sound = |it: &u8| it.is_ascii_graphic() && !ENCODED_ONLY.contains(it);
        if target.first() != Some(&b'/') || !target.iter().all(is_sound) {
            return Err(Refusal::Target);
        }
        Ok(Self { is_old, takes_body: WITH_BODY.contains(&method) })
    }
}
