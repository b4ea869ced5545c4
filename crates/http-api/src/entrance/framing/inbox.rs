//! The bytes that came and have not passed yet.

use std::ops::Range;

use tokio::io::ReadBuf;

const SIZE: usize = 8 << 10;
/// For the rest of a body that was not all there with its head.
const BODY_SIZE: usize = 32 << 10;
/// More than the largest head, so that one that is too large is seen as such.
const SIZE_MAX: usize = 64 << 10;

/// A buffer between a connection and the parser.
pub(super) struct Inbox {
    bytes: Vec<u8>,
    from: usize,
    to: usize,
    /// How many of the first ones were judged and may pass.
    good: usize,
}

impl Inbox {
    pub(super) fn new() -> Self {
        Self { bytes: vec![0; SIZE], from: 0, to: 0, good: 0 }
    }

    /// What has not passed yet.
    pub(super) fn unread(&self) -> &[u8] {
        self.bytes.get(self.from..self.to).unwrap_or_default()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.from == self.to
    }

    /// Lets the first bytes pass from now on.
    pub(super) fn approve(&mut self, count: usize) {
        self.good = count;
    }

    /// Hands over what may pass, as far as there is room; whether there was anything.
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

    /// Lets the first bytes pass without these parts of them, which stand in their order.
    pub(super) fn approve_without(&mut self, count: usize, cuts: &[Range<usize>]) {
        if cuts.is_empty() {
            return self.approve(count);
        }
        let mut to = self.from + count;
        let end = to;
        // From behind, so that what stays moves once and nothing that is still to be moved is overwritten.
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

    /// Drops the first bytes.
    pub(super) fn skip(&mut self, count: usize) {
        self.from = (self.from + count).min(self.to);
    }

    /// Puts other bytes in the place of all, to pass.
    pub(super) fn replace(&mut self, by: &[u8]) {
        self.bytes.clear();
        self.bytes.extend_from_slice(by);
        (self.from, self.to, self.good) = (0, by.len(), by.len());
    }

    /// Where more can be put, more of a body or of a head; [`Self::filled`] says how much was.
    pub(super) fn room(&mut self, of_body: bool) -> &mut [u8] {
        if self.from > 0 {
            self.bytes.copy_within(self.from..self.to, 0);
            (self.from, self.to) = (0, self.to - self.from);
        }
        let size = match self.to {
            0 if of_body => BODY_SIZE,
            0 => SIZE,
            full if full == self.bytes.len() => (2 * full).min(SIZE_MAX),
            _ => self.bytes.len(),
        };
        if size != self.bytes.len() {
            self.bytes.resize(size, 0);
            self.bytes.shrink_to(SIZE);
        }
        self.bytes.get_mut(self.to..).unwrap_or_default()
    }

    /// So many bytes were put into the room.
    pub(super) fn filled(&mut self, count: usize) {
        self.to += count;
    }
}
