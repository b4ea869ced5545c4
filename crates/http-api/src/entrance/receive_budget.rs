//! Memory for what clients send, and for the pages they read, before any right credentials were seen on their connection.
//!
//! A connection's first few KiB are part of what each connection may cost. What it holds beyond that, in TLS, in the strict reader
//! and in the parser, is counted for all connections together. While too much is held, nothing more is read of a connection that
//! holds more than its own part, and nobody without credentials is given a page.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use metrics::gauge;

/// What a connection may hold without being counted; rustls reads as much at a time.
const UNCOUNTED: usize = 4 << 10;
/// What all connections together may hold beyond that.
const HELD_MAX: usize = 24 << 20;

/// The bytes that connections without right credentials hold together.
#[derive(Default)]
pub(super) struct ReceiveBudget {
    held: AtomicUsize,
}

impl ReceiveBudget {
    fn is_full(&self) -> bool {
        self.held.load(Ordering::Relaxed) >= HELD_MAX
    }
}

/// What one connection holds. The most that it has held so far stays counted: what a connection returns to the heap lies in pieces
/// between what others still hold.
#[derive(Default)]
pub(super) struct Held {
    budget: Arc<ReceiveBudget>,
    bytes: Cell<usize>,
    counted: Cell<usize>,
}

impl Held {
    pub(super) fn of(budget: &Arc<ReceiveBudget>) -> Self {
        Self { budget: Arc::clone(budget), bytes: Cell::default(), counted: Cell::default() }
    }

    /// Whether the connection may receive more.
    pub(super) fn has_room(&self) -> bool {
        self.bytes.get() < UNCOUNTED + self.counted.get() || !self.budget.is_full()
    }

    /// Counts `bytes` more, unless too much is held already; whether they are counted.
    pub(super) fn grows(&self, bytes: usize) -> bool {
        let grown = self.bytes.get() + bytes;
        let has_room = grown <= UNCOUNTED + self.counted.get() || !self.budget.is_full();
        if has_room {
            self.set(grown);
        }
        has_room
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes.get()
    }

    /// Sets what the connection holds.
    pub(super) fn set(&self, bytes: usize) {
        self.bytes.set(bytes);
        let more = bytes.saturating_sub(UNCOUNTED + self.counted.get());
        if more > 0 {
            self.counted.set(self.counted.get() + more);
            show(self.budget.held.fetch_add(more, Ordering::Relaxed) + more);
        }
    }

    /// The connection is not counted any more.
    pub(super) fn release(&self) {
        let counted = self.counted.take();
        if counted > 0 {
            show(self.budget.held.fetch_sub(counted, Ordering::Relaxed) - counted);
        }
    }
}

fn show(held: usize) {
    gauge!("guerdon_http_held_bytes", "kind" => "received").set(u32::try_from(held).unwrap_or(u32::MAX));
}

impl Drop for Held {
    fn drop(&mut self) {
        self.release();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_has_a_part_of_its_own_and_all_of_them_share_the_rest() {
        let budget = Arc::default();
        let [greedy, modest] = [(); 2].map(|()| Held::of(&budget));
        greedy.set(UNCOUNTED);
        assert_eq!(budget.held.load(Ordering::Relaxed), 0);
        greedy.set(UNCOUNTED + HELD_MAX);
        assert!(!greedy.has_room() && !modest.grows(UNCOUNTED + 1));
        modest.set(UNCOUNTED - 1);
        assert!(modest.has_room(), "its own part is always there");
        modest.set(UNCOUNTED);
        assert!(!modest.has_room());
        greedy.set(0);
        assert!(!modest.has_room(), "the most that it has held stays counted");
        assert!(greedy.has_room() && greedy.grows(UNCOUNTED + HELD_MAX), "for itself, too");
        greedy.release();
        assert!(modest.has_room() && modest.grows(1));
        assert_eq!(budget.held.load(Ordering::Relaxed), 1);
        drop((greedy, modest));
        assert_eq!(budget.held.load(Ordering::Relaxed), 0);
    }
}
