//! The addresses and bytes that the attempt on this thread is allowed.
//!
//! ureq passes nothing from a call to the connections it takes from its pool, but does all the work of a call on the
//! caller's thread: it resolves, consults the pool, connects, sends and reads. So the state of the attempt is in a
//! thread-local, which the sender and the resolver write and the connections read.

use std::cell::RefCell;
use std::net::SocketAddr;

struct Passage {
    vetted: Vec<SocketAddr>,
    bytes_left: usize,
}

thread_local! {
    static PASSAGE: RefCell<Passage> = const { RefCell::new(Passage { vetted: Vec::new(), bytes_left: 0 }) };
}

/// Begins an attempt: no address is allowed yet, and at most `bytes` may be received.
pub(crate) fn begin(bytes: usize) {
    PASSAGE.with_borrow_mut(|passage| *passage = Passage { vetted: Vec::new(), bytes_left: bytes });
}

/// Allows connections to these addresses and no others.
pub(super) fn open(vetted: &[SocketAddr]) {
    PASSAGE.with_borrow_mut(|passage| passage.vetted = vetted.to_vec());
}

/// Whether the attempt may use a connection to this peer.
pub(super) fn leads_to(peer: SocketAddr) -> bool {
    PASSAGE.with_borrow(|passage| passage.vetted.contains(&peer))
}

/// Counts received bytes. Returns `false` once the attempt has received more than it may.
#[must_use]
pub(super) fn receive(bytes: usize) -> bool {
    PASSAGE.with_borrow_mut(|it| match it.bytes_left.checked_sub(bytes) {
        Some(left) => {
            it.bytes_left = left;
            true
        }
        None => false,
    })
}

#[cfg(test)]
mod tests {
    use super::{begin, leads_to, open, receive};

    #[test]
    fn an_attempt_leads_only_to_what_was_vetted_for_it() {
        let (one, other) = ("192.0.2.1:443".parse().unwrap(), "192.0.2.1:444".parse().unwrap());
        begin(10);
        assert!(!leads_to(one));
        open(&[one]);
        assert!(leads_to(one) && !leads_to(other));
        open(&[other]);
        assert!(!leads_to(one));
        begin(10);
        assert!(!leads_to(other));
    }

    #[test]
    fn an_attempt_receives_so_much_and_no_more() {
        begin(10);
        assert!(receive(4) && receive(6) && receive(0));
        assert!(!receive(1));
    }
}
