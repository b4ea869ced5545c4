//! Reads the bytes of a connection strictly before the HTTP parser does (behaviour 5.2).
//!
//! The parser is lenient where two readers of the same bytes may disagree on the end of a request (request smuggling): bare line
//! feeds, invalid hosts, repeated lengths. This module passes on only what has exactly one interpretation, one request at a
//! time: the next head waits until the previous request has its response. It removes what a request may contain but the service
//! does not need (the scheme and host of an absolute target, offers of other protocols, chunk extensions, trailers), and passes
//! everything else unchanged. It responds itself to a head that it refuses, after all earlier responses; a body that
//! it refuses ends, for the parser, before it is complete. Nothing after either is read as a request.
//!
//! `head` and `body` examine bytes without I/O. `stream` is the byte stream around them, and limits how long a client may
//! take to send a head, to send a body, and to read its responses.

mod alarm;
mod body;
mod connection;
mod fields;
mod head;
mod inbox;
mod refusal;
mod request_line;
mod stream;

use body::Chunks;
pub(super) use connection::{Connection, PageUnderWay};
use head::{Head, Whole};
pub(crate) use refusal::Refusal;
pub(super) use stream::{Guarded, NO_ROOM, Refuse};

/// The position within the requests of a connection.
#[derive(Debug)]
struct Framing {
    at: At,
}

#[derive(Debug)]
enum At {
    /// Before or within a head.
    Head(Head),
    /// Within a body, this many bytes before its end.
    Length(u64),
    /// Within a chunked body.
    Chunks(Chunks),
}

/// What to do with bytes that break no rule. Counts are numbers of bytes from the first one on.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Judged {
    /// A complete head of this length, which is passed on without its cuts.
    Head(usize, Whole),
    /// Bytes to pass on.
    Pass(usize),
    /// Bytes without meaning, to discard.
    Skip(usize),
    /// The bytes are incomplete.
    More,
}

impl Framing {
    fn new() -> Self {
        Self { at: At::Head(Head::default()) }
    }

    /// Whether the position is before or within a head.
    fn is_in_head(&self) -> bool {
        matches!(self.at, At::Head(_))
    }

    /// Examines the bytes that have not been passed on yet. A head is passed on as a whole or not at all.
    fn judge(&mut self, bytes: &[u8]) -> Result<Judged, Refusal> {
        let (judged, next) = match &mut self.at {
            At::Head(head) => {
                let judged = head.judge(bytes)?;
                let next = if let Judged::Head(_, whole) = &judged { Some(At::of(whole.body)) } else { None };
                (judged, next)
            }
            At::Length(left) => body::counted(left, bytes),
            At::Chunks(chunks) => chunks.judge(bytes)?,
        };
        if let Some(next) = next {
            self.at = next;
        }
        Ok(judged)
    }
}

impl At {
    /// The position after a head.
    fn of(body: head::Body) -> Self {
        match body {
            head::Body::Length(0) => Self::Head(Head::default()),
            head::Body::Length(length) => Self::Length(length),
            head::Body::Chunked => Self::Chunks(Chunks::default()),
        }
    }
}

#[cfg(test)]
mod tests;
