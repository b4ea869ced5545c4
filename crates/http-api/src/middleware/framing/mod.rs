//! Checks the bytes of a connection strictly before the HTTP parser reads them (behaviour 5.2).
//!
//! The parser is lenient where two readers of the same bytes may disagree on the end of a request (request smuggling):
//! bare line feeds, invalid hosts, repeated lengths. This module passes on only requests that have exactly one
//! interpretation, and one at a time: the next head waits until the previous request has its response. It removes what
//! a request may contain but the service does not need (the scheme and host of an absolute target, offers of other
//! protocols, chunk extensions, trailers), and passes everything else on unchanged. If it refuses a head, it sends the
//! response itself, after all earlier responses. If it refuses a body, the parser sees a body that ends early. In both
//! cases, nothing that follows is read as a request.
//!
//! `head` and `body_framing` examine bytes without I/O. `StrictStream` (in `stream`) is the byte stream around them,
//! and limits how long a client may take to send a head, to send a body, and to read its responses.

mod body_framing;
mod connection;
mod framing_error;
mod head;
mod header_fields;
#[cfg(any(test, feature = "testing"))]
pub(crate) mod pieces;
mod receive_buffer;
mod request_line;
mod stream;
mod wait_timer;

use body_framing::ChunkDecoder;
pub(super) use connection::Connection;
pub(crate) use framing_error::FramingError;
use head::{CompleteHead, PartialHead};
pub(super) use stream::{BUDGET_EXCEEDED, ErrorRenderer, PARSER_KEEP_ALIVE, StrictStream};

/// The position within the requests of a connection.
#[derive(Debug)]
enum Framing {
    /// Before or within a head.
    Head(PartialHead),
    /// Within a body, this many bytes before its end.
    Length(u64),
    /// Within a chunked body.
    Chunks(ChunkDecoder),
}

/// What to do with bytes that break no rule. Each count is a number of bytes from the start.
#[derive(Debug, Clone, PartialEq, Eq)]
enum FrameAction {
    /// A complete head of this length, which is passed on without the parts to cut.
    Head(usize, CompleteHead),
    /// Bytes to pass on.
    Pass(usize),
    /// Bytes without meaning, to discard.
    Skip(usize),
    /// The bytes are incomplete.
    More,
}

impl Framing {
    /// The position before a head.
    fn new() -> Self {
        Self::Head(PartialHead::default())
    }

    /// Whether the position is before or within a head.
    fn is_in_head(&self) -> bool {
        matches!(self, Self::Head(_))
    }

    /// Decides what to do next with the bytes that have not been passed on yet. A head is passed on as a whole or not
    /// at all.
    fn examine_bytes(&mut self, bytes: &[u8]) -> Result<FrameAction, FramingError> {
        let (action, next) = match self {
            Self::Head(head) => head.examine_bytes(bytes)?,
            Self::Length(left) => body_framing::examine_sized_body(left, bytes),
            Self::Chunks(chunks) => chunks.examine_bytes(bytes)?,
        };
        if let Some(next) = next {
            *self = next;
        }
        Ok(action)
    }
}

#[cfg(test)]
mod tests;
