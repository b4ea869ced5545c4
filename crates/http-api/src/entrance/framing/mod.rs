//! The strict reading of what comes on a connection (behaviour 5.2), under the server's own parser.
//!
//! The parser underneath is lenient where two readers of the same bytes may disagree on where a request ends: bare line
//! feeds, no proper host, lengths that stand twice. Here only what has exactly one reading is passed on, one request at a
//! time: the next head waits until the request before it has its answer. What a request may say and nobody here needs
//! (the scheme and host of an absolute target, offers of other protocols, extensions of chunks, trailers) is left out on
//! the way; all else passes byte for byte. A head that is refused is answered here, behind all that was answered before; a
//! body that is refused ends, for the parser, before it is complete. Nothing behind either is read as a request.
//!
//! `head` and `body` judge bytes and know no stream; `stream` is the byte stream around them, and bounds how long a
//! client may take to send a head, to send a body, and to read its answers.

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

/// Where in the requests of a connection its bytes stand.
#[derive(Debug)]
struct Framing {
    at: At,
}

#[derive(Debug)]
enum At {
    /// Before a head, or in it.
    Head(Head),
    /// In a body, this many bytes before its end.
    Length(u64),
    /// In a body that comes in chunks.
    Chunks(Chunks),
}

/// What bytes are worth that are no violation.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Judged {
    /// So many of the first ones are a head, which may pass without what is cut out of it.
    Head(usize, Whole),
    /// So many of the first ones may pass.
    Pass(usize),
    /// So many of the first ones mean nothing and are dropped.
    Skip(usize),
    /// They are no whole yet.
    More,
}

impl Framing {
    fn new() -> Self {
        Self { at: At::Head(Head::default()) }
    }

    /// Whether a head is awaited or read, not a body.
    fn is_in_head(&self) -> bool {
        matches!(self.at, At::Head(_))
    }

    /// Judges the bytes that have not passed yet, from the first one on; a head passes as a whole or not at all.
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
    /// What follows a head.
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
