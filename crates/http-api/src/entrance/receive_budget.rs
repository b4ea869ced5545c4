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

/// What one connection holds; dropped, it holds nothing.
#[derive(Default)]
pub(super) struct Held {
    budget: Arc<ReceiveBudget>,
    bytes: Cell<usize>,
}

impl Held {
    pub(super) fn of(budget: &Arc<ReceiveBudget>) -> Self {
        Self { budget: Arc::clone(budget), bytes: Cell::new(0) }
    }

    /// Whether the connection may receive more.
    pub(super) fn has_room(&self) -> bool {
        self.bytes.get() < UNCOUNTED || !self.budget.is_full()
    }

    /// Counts `bytes` more, unless too much is held already; whether they are counted.
    pub(super) fn grows(&self, bytes: usize) -> bool {
        let has_room = !self.budget.is_full();
        if has_room {
            self.set(self.bytes() + bytes);
        }
        has_room
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes.get()
    }

    /// Sets what the connection holds.
    pub(super) fn set(&self, bytes: usize) {
        let before = self.bytes.replace(bytes).saturating_sub(UNCOUNTED);
        let after = bytes.saturating_sub(UNCOUNTED);
        if after == before {
            return;
        }
        let held = if after > before {
            self.budget.held.fetch_add(after - before, Ordering::Relaxed) + (after - before)
        } else {
            self.budget.held.fetch_sub(before - after, Ordering::Relaxed) - (before - after)
        };
        gauge!("guerdon_http_held_bytes", "kind" => "received").set(u32::try_from(held).unwrap_or(u32::MAX));
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.set(0);
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
        assert!(!greedy.has_room() && !modest.grows(1));
        modest.set(UNCOUNTED - 1);
        assert!(modest.has_room(), "its own part is always there");
        modest.set(UNCOUNTED);
        assert!(!modest.has_room());
        greedy.set(UNCOUNTED + 1);
        assert_eq!(budget.held.load(Ordering::Relaxed), 1);
        assert!(modest.has_room() && modest.grows(1));
        drop((greedy, modest));
        assert_eq!(budget.held.load(Ordering::Relaxed), 0);
    }
}
