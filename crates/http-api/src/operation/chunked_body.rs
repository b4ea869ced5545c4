//! Holds a rendered body in chunks of limited size, so that it grows and is sent without being copied as a whole.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::io::{self, Write};
use std::pin::Pin;
use std::task::{Context, Poll};

use actix_web::body::{BodySize, MessageBody};
use actix_web::web::Bytes;
use guerdon_domain::values::checked_cast;

/// The maximum number of bytes of a chunk.
const CHUNK_BYTES_MAX: usize = 128 << 10;
/// The maximum number of bytes that are passed to a connection at a time, because it copies them.
const SENT_BYTES_MAX: usize = 32 << 10;

/// A body that is being rendered.
#[derive(Debug, Clone, Default)]
pub(crate) struct ChunkedBody {
    full_chunks: VecDeque<Bytes>,
    open_chunk: Vec<u8>,
    length: usize,
}

impl ChunkedBody {
    /// The number of bytes.
    pub(crate) fn len(&self) -> usize {
        self.length
    }

    pub(crate) fn iter_chunks(&self) -> impl Iterator<Item = &[u8]> {
        self.full_chunks.iter().map(|chunk| &**chunk).chain([self.open_chunk.as_slice()])
    }

    /// The whole body in one piece; for small bodies.
    pub(crate) fn to_vec(&self) -> Vec<u8> {
        self.iter_chunks().fold(Vec::with_capacity(self.length), |mut collected, chunk| {
            collected.extend_from_slice(chunk);
            collected
        })
    }

    fn finish_chunk(&mut self) {
        if !self.open_chunk.is_empty() {
            self.full_chunks.push_back(Bytes::from(std::mem::take(&mut self.open_chunk)));
        }
    }
}

impl Write for ChunkedBody {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let room = CHUNK_BYTES_MAX.saturating_sub(self.open_chunk.len());
        let (head, _rest) = bytes.split_at(bytes.len().min(room));
        self.open_chunk.extend_from_slice(head);
        self.length += head.len();
        if self.open_chunk.len() >= CHUNK_BYTES_MAX {
            self.finish_chunk();
            self.open_chunk.reserve_exact(CHUNK_BYTES_MAX);
        }
        Ok(head.len())
    }

    /// Rendering writes a few bytes at a time, so a write that fits into the open chunk must be fast.
    #[inline]
    fn write_all(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while self.open_chunk.len() + bytes.len() >= CHUNK_BYTES_MAX {
            let (_, rest) = bytes.split_at(self.write(bytes)?);
            bytes = rest;
        }
        self.open_chunk.extend_from_slice(bytes);
        self.length += bytes.len();
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl From<Vec<u8>> for ChunkedBody {
    fn from(bytes: Vec<u8>) -> Self {
        Self { length: bytes.len(), full_chunks: VecDeque::new(), open_chunk: bytes }
    }
}

/// A body that is being sent. `held` is dropped when the body has been sent or the connection is closed.
pub(crate) struct OutgoingBody<H> {
    chunks: VecDeque<Bytes>,
    length: usize,
    _held: H,
}

impl<H> OutgoingBody<H> {
    pub(crate) fn new(mut body: ChunkedBody, held: H) -> Self {
        body.finish_chunk();
        Self { chunks: body.full_chunks, length: body.length, _held: held }
    }

    pub(crate) fn from_bytes(body: Bytes, held: H) -> Self {
        Self { length: body.len(), chunks: VecDeque::from([body]), _held: held }
    }
}

impl<H: Unpin> MessageBody for OutgoingBody<H> {
    type Error = Infallible;

    fn size(&self) -> BodySize {
        BodySize::Sized(checked_cast(self.length))
    }

    fn poll_next(
        mut self: Pin<&mut Self>,
        _context: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, Infallible>>> {
        let Some(first) = self.chunks.front_mut().filter(|chunk| !chunk.is_empty()) else {
            return Poll::Ready(None);
        };
        let next = first.split_to(first.len().min(SENT_BYTES_MAX));
        if first.is_empty() {
            self.chunks.pop_front();
        }
        Poll::Ready(Some(Ok(next)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn send_body(body: ChunkedBody) -> Vec<u8> {
        drain_body(OutgoingBody::new(body, ()))
    }

    fn drain_body(mut outgoing: OutgoingBody<()>) -> Vec<u8> {
        let mut context = Context::from_waker(std::task::Waker::noop());
        let mut collected = Vec::new();
        while let Poll::Ready(Some(Ok(chunk))) = Pin::new(&mut outgoing).poll_next(&mut context) {
            assert!((1..=SENT_BYTES_MAX).contains(&chunk.len()));
            collected.extend_from_slice(&chunk);
        }
        collected
    }

    #[test]
    fn written_bytes_are_sent_complete_and_in_order() {
        for length in [
            0,
            1,
            SENT_BYTES_MAX,
            CHUNK_BYTES_MAX - 1,
            CHUNK_BYTES_MAX,
            CHUNK_BYTES_MAX + 1,
            3 * CHUNK_BYTES_MAX + 7,
        ] {
            let bytes: Vec<u8> = (0..=250_u8).cycle().take(length).collect();
            let mut body = ChunkedBody::default();
            for part in bytes.chunks(1_000) {
                body.write_all(part).unwrap();
            }
            assert_eq!(body.len(), length);
            assert_eq!(body.to_vec(), bytes);
            assert!(body.iter_chunks().all(|chunk| chunk.len() <= CHUNK_BYTES_MAX));
            assert_eq!(send_body(body), bytes);
            assert_eq!(send_body(ChunkedBody::from(bytes.clone())), bytes);
            assert_eq!(drain_body(OutgoingBody::from_bytes(bytes.clone().into(), ())), bytes);
        }
    }
}
