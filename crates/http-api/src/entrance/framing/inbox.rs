//! The bytes that came and have not passed yet.

use std::ops::Range;

use tokio::io::ReadBuf;

/// The buffer grows in steps of this size.
const STEP: usize = 1 << 10;

/// What was received and has not been passed to the parser. Empty, it holds no memory: most connections are idle.
#[derive(Default)]
pub(super) struct Inbox {
    bytes: Vec<u8>,
    from: usize,
    /// How many of the first ones were judged and may pass.
    good: usize,
}

impl Inbox {
    /// What has not passed yet.
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
            self.bytes.reserve_exact(length.next_multiple_of(STEP) - self.bytes.len());
        }
        self.bytes.extend_from_slice(received);
    }

    /// Lets the first bytes pass from now on.
    pub(super) fn approve(&mut self, count: usize) {
        self.good = count;
    }

    /// Whether anything may pass.
    pub(super) fn may_pass(&self) -> bool {
        self.good > 0
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
        self.from += count;
        if self.from >= self.bytes.len() {
            *self = Self::default();
        }
    }

    /// Drops all.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}
