//! Memory for what clients send, and for the pages they read, before any right credentials were seen on their connection.
//!
//! A connection's first few KiB are part of what each connection may cost. What it holds beyond that, in TLS, in the strict reader
//! and in the parser, is counted for all connections together, and for those of one address. While either is too much, nothing more is
//! read of a connection that holds more than its own part, and nobody without credentials is given a page.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use metrics::gauge;

/// What a connection may hold without being counted; rustls reads as much at a time.
const UNCOUNTED: usize = 4 << 10;
/// What all connections together may hold beyond that.
const HELD_MAX: usize = 24 << 20;
/// What those of one address may: half of that, so that no single one keeps the others out.
const SHARE_MAX: usize = HELD_MAX / 2;

/// The bytes that connections without right credentials hold together.
#[derive(Default)]
pub(super) struct ReceiveBudget {
    held: AtomicUsize,
}

/// The bytes that those of one address hold together.
pub(super) type Share = Arc<AtomicUsize>;

/// What one connection holds. The most that it has received so far stays counted: what a connection returns to the heap lies in pieces
/// between what others still hold. A page is shared by all who read it and counts until the client has taken it.
#[derive(Default)]
pub(super) struct Held {
    budget: Arc<ReceiveBudget>,
    share: Share,
    bytes: Cell<usize>,
    counted: Cell<usize>,
    page: Cell<usize>,
}

impl Held {
    pub(super) fn of(budget: &Arc<ReceiveBudget>, share: Share) -> Self {
        Self {
            budget: Arc::clone(budget),
            share,
            bytes: Cell::default(),
            counted: Cell::default(),
            page: Cell::default(),
        }
    }

    /// Whether the connection may receive more.
    pub(super) fn has_room(&self) -> bool {
        self.bytes.get() < UNCOUNTED + self.counted.get() || !self.is_full()
    }

    /// Counts a page that takes `bytes` on its way out, unless too much is held already; whether it may go.
    pub(super) fn add_page(&self, bytes: usize) -> bool {
        let more = bytes.saturating_sub(self.page.get());
        if more > 0 && self.is_full() {
            return false;
        }
        self.page.set(self.page.get() + more);
        self.count(more);
        true
    }

    /// No page is on its way out.
    pub(super) fn release_page(&self) {
        self.discount(self.page.take());
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes.get()
    }

    /// Sets what the connection holds.
    pub(super) fn set(&self, bytes: usize) {
        self.bytes.set(bytes);
        let more = bytes.saturating_sub(UNCOUNTED + self.counted.get());
        self.counted.set(self.counted.get() + more);
        self.count(more);
    }

    /// What was received is not counted any more.
    pub(super) fn release(&self) {
        self.discount(self.counted.take());
    }

    fn is_full(&self) -> bool {
        self.budget.held.load(Ordering::Relaxed) >= HELD_MAX
            || self.share.load(Ordering::Relaxed) >= SHARE_MAX
    }

    fn count(&self, more: usize) {
        if more > 0 {
            self.share.fetch_add(more, Ordering::Relaxed);
            show(self.budget.held.fetch_add(more, Ordering::Relaxed) + more);
        }
    }

    fn discount(&self, less: usize) {
        if less > 0 {
            self.share.fetch_sub(less, Ordering::Relaxed);
            show(self.budget.held.fetch_sub(less, Ordering::Relaxed) - less);
        }
    }
}

fn show(held: usize) {
    gauge!("guerdon_http_held_bytes", "kind" => "received").set(u32::try_from(held).unwrap_or(u32::MAX));
}

impl Drop for Held {
    fn drop(&mut self) {
        self.release();
        self.release_page();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_has_a_part_of_its_own_and_all_of_them_share_the_rest() {
        let budget = Arc::default();
        let [first, greedy, modest] = [(); 3].map(|()| Held::of(&budget, Share::default()));
        greedy.set(UNCOUNTED);
        assert_eq!(budget.held.load(Ordering::Relaxed), 0);
        first.set(UNCOUNTED + SHARE_MAX);
        assert!(!first.has_room() && greedy.has_room(), "one address has half of it");
        greedy.set(UNCOUNTED + SHARE_MAX);
        assert!(!greedy.has_room() && !modest.add_page(1));
        modest.set(UNCOUNTED - 1);
        assert!(modest.has_room(), "its own part is always there");
        modest.set(UNCOUNTED);
        assert!(!modest.has_room());
        greedy.set(0);
        assert!(!modest.has_room(), "the most that it has held stays counted");
        assert!(greedy.has_room(), "for itself, too");
        greedy.release();
        assert!(modest.has_room() && modest.add_page(1));
        assert_eq!(budget.held.load(Ordering::Relaxed), SHARE_MAX + 1);
        drop((first, greedy, modest));
        assert_eq!(budget.held.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn connections_of_one_address_have_one_share() {
        let (budget, share) = (Arc::default(), Share::default());
        let [one, other] = [(); 2].map(|()| Held::of(&budget, Arc::clone(&share)));
        one.set(UNCOUNTED + SHARE_MAX);
        assert!(!other.add_page(1));
        drop(one);
        assert!(other.add_page(5) && other.add_page(3));
        assert_eq!(share.load(Ordering::Relaxed), 5, "pages of one connection go out one after the other");
        other.release_page();
        assert_eq!(share.load(Ordering::Relaxed), 0);
    }
}
