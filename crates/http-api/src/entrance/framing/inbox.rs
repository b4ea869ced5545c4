//! Holds the received bytes that have not been passed on yet.

use std::ops::Range;

use tokio::io::ReadBuf;

/// The buffer grows in steps of this size.
const GROWTH_BYTES: usize = 1 << 10;

/// The received bytes that have not been passed to the parser. An empty inbox holds no memory, because most connections are idle.
#[derive(Default)]
pub(super) struct Inbox {
    bytes: Vec<u8>,
    from: usize,
    /// How many bytes from the first one on may be passed on.
    good: usize,
}

impl Inbox {
    /// The bytes that were not approved yet.
    pub(super) fn unread(&self) -> &[u8] {
        self.bytes.get(self.from..).unwrap_or_default()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.from == self.bytes.len()
    }

    /// Appends received bytes.
    pub(super) fn push(&mut self, received: &[u8]) {
        self.bytes.drain(..self.from);
        self.from = 0;
        let length = self.bytes.len() + received.len();
        if length > self.bytes.capacity() {
            self.bytes.reserve_exact(length.next_multiple_of(GROWTH_BYTES) - self.bytes.len());
        }
        self.bytes.extend_from_slice(received);
    }

    /// Approves the next `count` bytes.
    pub(super) fn approve(&mut self, count: usize) {
        self.good = count;
    }

    /// Whether there are approved bytes.
    pub(super) fn may_pass(&self) -> bool {
        self.good > 0
    }

    /// Moves approved bytes to `out`, as many as fit. Returns whether there were any.
    pub(super) fn pass(&mut self, out: &mut ReadBuf<'_>) -> bool {
        if self.good == 0 {
            return false;
        }
        let count = self.good.min(out.remaining());
        out.put_slice(self.bytes.get(self.from..self.from + count).unwrap_or_default());
        self.good -= count;
        self.skip(count);
        true
    }

    /// Approves the next `count` bytes without the parts in `cuts`, which are sorted.
    pub(super) fn approve_without(&mut self, count: usize, cuts: &[Range<usize>]) {
        if cuts.is_empty() {
            return self.approve(count);
        }
        let mut to = self.from + count;
        let end = to;
        // From the end, so that each kept part is moved once and overwrites none that is still to be moved.
        let mut copied = end;
        for cut in cuts.iter().rev() {
            let (start, after) = (self.from + cut.start, self.from + cut.end);
            let length = copied - after;
            self.bytes.copy_within(after..copied, to - length);
            to -= length;
            copied = start;
        }
        let length = copied - self.from;
        self.bytes.copy_within(self.from..copied, to - length);
        self.from = to - length;
        self.good = end - self.from;
    }

    /// Discards the next `count` bytes.
    pub(super) fn skip(&mut self, count: usize) {
        self.from += count;
        if self.from >= self.bytes.len() {
            *self = Self::default();
        }
    }

    /// Discards all bytes.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}
