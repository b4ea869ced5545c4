//! Limits the memory for data that clients send, and for the pages they load, before they have shown valid credentials.
//!
//! Every connection may hold a few KiB. Memory beyond that, in TLS, in the `StrictStream` and in the parser, is counted
//! in total and per address. While either count is above its limit, the service does not read from connections that
//! hold more than their own few KiB, and serves no pages to clients without credentials.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use metrics::gauge;

/// The bytes that a connection may hold without being counted: as many as rustls reads at a time.
const UNCOUNTED_BYTES: usize = 4 << 10;
/// The bytes that all connections together may hold beyond that.
const HELD_BYTES_MAX: usize = 24 << 20;
/// The bytes that the connections of one address may hold beyond that: half of the total, so that no address can use it
/// up.
const HELD_BYTES_PER_ADDRESS_MAX: usize = HELD_BYTES_MAX / 2;

/// The bytes that all connections without valid credentials hold.
pub(super) type ReceiveBudget = AtomicUsize;

/// The bytes that the connections of one address hold.
pub(super) type AddressUsage = Arc<AtomicUsize>;

/// The bytes that one connection holds. The peak counts, not the current value, because of heap fragmentation. A page
/// counts until the client has received it, although all clients share the memory of the page.
#[derive(Default)]
pub(super) struct ConnectionUsage {
    budget: Arc<ReceiveBudget>,
    address_usage: AddressUsage,
    bytes: Cell<usize>,
    counted: Cell<usize>,
    page: Cell<usize>,
}

impl ConnectionUsage {
    pub(super) fn with_budget(budget: &Arc<ReceiveBudget>, address_usage: AddressUsage) -> Self {
        Self {
            budget: Arc::clone(budget),
            address_usage,
            bytes: Cell::default(),
            counted: Cell::default(),
            page: Cell::default(),
        }
    }

    /// Whether the connection may receive more.
    pub(super) fn has_room(&self) -> bool {
        self.bytes.get() < UNCOUNTED_BYTES + self.counted.get() || !self.is_full()
    }

    /// Counts a page of `bytes` that is about to be sent. Returns false, and counts nothing, if a limit is reached.
    pub(super) fn add_page(&self, bytes: usize) -> bool {
        let added = bytes.saturating_sub(self.page.get());
        if added > 0 && self.is_full() {
            return false;
        }
        self.page.set(self.page.get() + added);
        self.add_counted(added);
        true
    }

    /// Stops counting the page, because it has been sent.
    pub(super) fn release_page(&self) {
        self.subtract_counted(self.page.take());
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes.get()
    }

    /// Sets the number of bytes that the connection holds.
    pub(super) fn set_bytes(&self, bytes: usize) {
        self.bytes.set(bytes);
        let added = bytes.saturating_sub(UNCOUNTED_BYTES + self.counted.get());
        self.counted.set(self.counted.get() + added);
        self.add_counted(added);
    }

    /// Stops counting received bytes, because the client has shown valid credentials.
    pub(super) fn release_received(&self) {
        self.subtract_counted(self.counted.take());
    }

    fn is_full(&self) -> bool {
        self.budget.load(Ordering::Relaxed) >= HELD_BYTES_MAX
            || self.address_usage.load(Ordering::Relaxed) >= HELD_BYTES_PER_ADDRESS_MAX
    }

    fn add_counted(&self, added: usize) {
        if added > 0 {
            self.address_usage.fetch_add(added, Ordering::Relaxed);
            report_usage(self.budget.fetch_add(added, Ordering::Relaxed) + added);
        }
    }

    fn subtract_counted(&self, removed: usize) {
        if removed > 0 {
            self.address_usage.fetch_sub(removed, Ordering::Relaxed);
            report_usage(self.budget.fetch_sub(removed, Ordering::Relaxed) - removed);
        }
    }
}

fn report_usage(held: usize) {
    gauge!("guerdon_http_memory_bytes", "kind" => "received").set(u32::try_from(held).unwrap_or(u32::MAX));
}

impl Drop for ConnectionUsage {
    fn drop(&mut self) {
        self.release_received();
        self.release_page();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_connection_has_its_own_bytes_and_all_connections_share_the_rest() {
        let budget = Arc::default();
        let [first, large, small] =
            [(); 3].map(|()| ConnectionUsage::with_budget(&budget, AddressUsage::default()));
        large.set_bytes(UNCOUNTED_BYTES);
        assert_eq!(budget.load(Ordering::Relaxed), 0);
        first.set_bytes(UNCOUNTED_BYTES + HELD_BYTES_PER_ADDRESS_MAX);
        assert!(!first.has_room() && large.has_room(), "one address may hold half of the total");
        large.set_bytes(UNCOUNTED_BYTES + HELD_BYTES_PER_ADDRESS_MAX);
        assert!(!large.has_room() && !small.add_page(1));
        small.set_bytes(UNCOUNTED_BYTES - 1);
        assert!(small.has_room(), "its uncounted bytes are always available");
        small.set_bytes(UNCOUNTED_BYTES);
        assert!(!small.has_room());
        large.set_bytes(0);
        assert!(!small.has_room(), "the highest value stays counted");
        assert!(large.has_room(), "its own counted bytes remain available to it");
        large.release_received();
        assert!(small.has_room() && small.add_page(1));
        assert_eq!(budget.load(Ordering::Relaxed), HELD_BYTES_PER_ADDRESS_MAX + 1);
        drop((first, large, small));
        assert_eq!(budget.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn connections_of_one_address_share_a_limit() {
        let (budget, address_usage) = (Arc::default(), AddressUsage::default());
        let [one, other] =
            [(); 2].map(|()| ConnectionUsage::with_budget(&budget, Arc::clone(&address_usage)));
        one.set_bytes(UNCOUNTED_BYTES + HELD_BYTES_PER_ADDRESS_MAX);
        assert!(!other.add_page(1));
        drop(one);
        assert!(other.add_page(5) && other.add_page(3));
        assert_eq!(address_usage.load(Ordering::Relaxed), 5, "a connection sends one page after the other");
        other.release_page();
        assert_eq!(address_usage.load(Ordering::Relaxed), 0);
    }
}
