//! Holds a rendered body in segments of limited size, so that it grows and is sent without being copied as a whole.

use guerdon_domain::values::fit;
use std::collections::VecDeque;
use std::convert::Infallible;
use std::io::{self, Write};
use std::pin::Pin;
use std::task::{Context, Poll};

use actix_web::body::{BodySize, MessageBody};
use actix_web::web::Bytes;

use crate::operation::budget::Weight;

/// The most bytes of a segment.
const SEGMENT_BYTES_MAX: usize = 128 << 10;
/// The most bytes that are passed to a connection at a time, because it copies them.
const SENT_BYTES_MAX: usize = 32 << 10;

/// A body that is being rendered.
#[derive(Debug, Clone, Default)]
pub(crate) struct Segments {
    full: VecDeque<Bytes>,
    open: Vec<u8>,
    length: usize,
}

impl Segments {
    /// The number of bytes.
    pub(crate) fn len(&self) -> usize {
        self.length
    }

    pub(crate) fn pieces(&self) -> impl Iterator<Item = &[u8]> {
        self.full.iter().map(|segment| &**segment).chain([self.open.as_slice()])
    }

    /// The whole body in one piece; for small bodies.
    pub(crate) fn joined(&self) -> Vec<u8> {
        self.pieces().fold(Vec::with_capacity(self.length), |mut all, piece| {
            all.extend_from_slice(piece);
            all
        })
    }

    fn close(&mut self) {
        if !self.open.is_empty() {
            self.full.push_back(Bytes::from(std::mem::take(&mut self.open)));
        }
    }
}

impl Write for Segments {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let room = SEGMENT_BYTES_MAX.saturating_sub(self.open.len());
        let (now, _later) = bytes.split_at(bytes.len().min(room));
        self.open.extend_from_slice(now);
        self.length += now.len();
        if self.open.len() >= SEGMENT_BYTES_MAX {
            self.close();
            self.open.reserve_exact(SEGMENT_BYTES_MAX);
        }
        Ok(now.len())
    }

    /// Rendering writes a few bytes at a time, so the fast path is a write that fits into the open segment.
    #[inline]
    fn write_all(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while self.open.len() + bytes.len() >= SEGMENT_BYTES_MAX {
            let (_, later) = bytes.split_at(self.write(bytes)?);
            bytes = later;
        }
        self.open.extend_from_slice(bytes);
        self.length += bytes.len();
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl From<Vec<u8>> for Segments {
    fn from(bytes: Vec<u8>) -> Self {
        Self { length: bytes.len(), full: VecDeque::new(), open: bytes }
    }
}

/// A body that is being sent. Its memory is released when it has been sent or the connection is gone.
pub(crate) struct Outgoing {
    pieces: VecDeque<Bytes>,
    length: usize,
    _weight: Option<Weight>,
}

impl Outgoing {
    pub(crate) fn new(mut body: Segments, weight: Option<Weight>) -> Self {
        body.close();
        Self { pieces: body.full, length: body.length, _weight: weight }
    }
}

impl From<Bytes> for Outgoing {
    fn from(body: Bytes) -> Self {
        Self { length: body.len(), pieces: VecDeque::from([body]), _weight: None }
    }
}

impl MessageBody for Outgoing {
    type Error = Infallible;

    fn size(&self) -> BodySize {
        BodySize::Sized(fit(self.length))
    }

    fn poll_next(
        mut self: Pin<&mut Self>,
        _context: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, Infallible>>> {
        let Some(first) = self.pieces.front_mut().filter(|piece| !piece.is_empty()) else {
            return Poll::Ready(None);
        };
        let next = first.split_to(first.len().min(SENT_BYTES_MAX));
        if first.is_empty() {
            self.pieces.pop_front();
        }
        Poll::Ready(Some(Ok(next)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(body: Segments) -> Vec<u8> {
        drained(Outgoing::new(body, None))
    }

    fn drained(mut outgoing: Outgoing) -> Vec<u8> {
        let mut context = Context::from_waker(std::task::Waker::noop());
        let mut all = Vec::new();
        while let Poll::Ready(Some(Ok(piece))) = Pin::new(&mut outgoing).poll_next(&mut context) {
            assert!((1..=SENT_BYTES_MAX).contains(&piece.len()));
            all.extend_from_slice(&piece);
        }
        all
    }

    #[test]
    fn what_is_written_comes_out_whole_and_in_order() {
        for length in [
            0,
            1,
            SENT_BYTES_MAX,
            SEGMENT_BYTES_MAX - 1,
            SEGMENT_BYTES_MAX,
            SEGMENT_BYTES_MAX + 1,
            3 * SEGMENT_BYTES_MAX + 7,
        ] {
            let bytes: Vec<u8> = (0..=250_u8).cycle().take(length).collect();
            let mut body = Segments::default();
            for part in bytes.chunks(1_000) {
                body.write_all(part).unwrap();
            }
            assert_eq!(body.len(), length);
            assert_eq!(body.joined(), bytes);
            assert!(body.pieces().all(|piece| piece.len() <= SEGMENT_BYTES_MAX));
            assert_eq!(sent(body), bytes);
            assert_eq!(sent(Segments::from(bytes.clone())), bytes);
            assert_eq!(drained(Bytes::from(bytes.clone()).into()), bytes);
        }
    }
}
