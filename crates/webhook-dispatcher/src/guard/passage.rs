//! What the attempt on this thread may touch.
//!
//! ureq hands nothing from a call to the connections it takes from its pool, but it does all of a call's work on the
//! caller's thread: it resolves, asks the pool, connects, sends and reads. So the passage of the attempt stands
//! in a thread-local, written by the sender and the resolver, read by the connections.

use std::cell::RefCell;
use std::net::SocketAddr;

struct Passage {
    vetted: Vec<SocketAddr>,
    bytes_left: usize,
}

thread_local! {
    static PASSAGE: RefCell<Passage> = const { RefCell::new(Passage { vetted: Vec::new(), bytes_left: 0 }) };
}

/// Begins an attempt: nothing is vetted yet, and `bytes` may be received.
pub(crate) fn begin(bytes: usize) {
    PASSAGE.with_borrow_mut(|it| *it = Passage { vetted: Vec::new(), bytes_left: bytes });
}

/// Opens the way to these addresses, and to no others.
pub(super) fn open(vetted: &[SocketAddr]) {
    PASSAGE.with_borrow_mut(|it| it.vetted = vetted.to_vec());
}

/// Whether the attempt may use a connection to this peer.
pub(super) fn leads_to(peer: SocketAddr) -> bool {
    PASSAGE.with_borrow(|it| it.vetted.contains(&peer))
}

/// Counts received bytes; `false` once they are more than the attempt may receive.
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
