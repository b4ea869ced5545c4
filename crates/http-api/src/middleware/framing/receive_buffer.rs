//! Holds the received bytes that have not been passed on yet.

use std::ops::Range;

use tokio::io::ReadBuf;

/// The buffer grows in steps of this size.
const GROWTH_BYTES: usize = 1 << 10;

/// The received bytes that have not been passed to the parser. An empty buffer holds no memory, because most
/// connections are idle.
#[derive(Default)]
pub(super) struct ReceiveBuffer {
    bytes: Vec<u8>,
    start: usize,
    /// How many bytes from `start` may be passed on.
    approved: usize,
}

impl ReceiveBuffer {
    /// The bytes that have not been passed on; must be called only when no bytes are approved.
    pub(super) fn pending_bytes(&self) -> &[u8] {
        self.bytes.get(self.start..).unwrap_or_default()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.start == self.bytes.len()
    }

    /// Appends received bytes.
    pub(super) fn push_bytes(&mut self, received: &[u8]) {
        self.bytes.drain(..self.start);
        self.start = 0;
        let length = self.bytes.len() + received.len();
        if length > self.bytes.capacity() {
            self.bytes.reserve_exact(length.next_multiple_of(GROWTH_BYTES) - self.bytes.len());
        }
        self.bytes.extend_from_slice(received);
    }

    /// Approves the next `count` bytes.
    pub(super) fn approve_bytes(&mut self, count: usize) {
        self.approved = count;
    }

    /// Whether there are approved bytes.
    pub(super) fn has_approved(&self) -> bool {
        self.approved > 0
    }

    /// Moves approved bytes to `out`, as many as fit. Returns whether there were any.
    pub(super) fn copy_approved(&mut self, out: &mut ReadBuf<'_>) -> bool {
        if self.approved == 0 {
            return false;
        }
        let count = self.approved.min(out.remaining());
        out.put_slice(self.bytes.get(self.start..self.start + count).unwrap_or_default());
        self.approved -= count;
        self.skip_bytes(count);
        true
    }

    /// Approves the next `count` bytes without the parts in `cuts`, which are sorted.
    pub(super) fn approve_with_cuts(&mut self, count: usize, cuts: &[Range<usize>]) {
        if cuts.is_empty() {
            return self.approve_bytes(count);
        }
        let mut to = self.start + count;
        let end = to;
        // Starts from the end, so that each kept part is moved once and overwrites no part that has not been moved yet.
        let mut copied = end;
        for cut in cuts.iter().rev() {
            let (start, after) = (self.start + cut.start, self.start + cut.end);
            let length = copied - after;
            self.bytes.copy_within(after..copied, to - length);
            to -= length;
            copied = start;
        }
        let length = copied - self.start;
        self.bytes.copy_within(self.start..copied, to - length);
        self.start = to - length;
        self.approved = end - self.start;
    }

    /// Discards the next `count` bytes.
    pub(super) fn skip_bytes(&mut self, count: usize) {
        self.start += count;
        if self.start >= self.bytes.len() {
            *self = Self::default();
        }
    }

    /// Discards all bytes.
    pub(super) fn discard_all(&mut self) {
        *self = Self::default();
    }
}
