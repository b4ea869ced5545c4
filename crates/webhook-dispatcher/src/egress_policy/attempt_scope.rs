//! The addresses that the attempt on this thread may connect to, and the bytes that it may receive.
//!
//! ureq cannot pass data from a call to the pooled connections that it uses. But it does all the work of a call on the
//! caller's thread: it resolves, consults the pool, connects, sends and reads. So the state of the attempt is in a
//! thread-local variable, which the sender and the resolver write and the connections read.

use std::cell::RefCell;
use std::net::SocketAddr;

struct AttemptScope {
    allowed_peers: Vec<SocketAddr>,
    bytes_left: usize,
}

thread_local! {
    static ATTEMPT_SCOPE: RefCell<AttemptScope> = const { RefCell::new(AttemptScope { allowed_peers: Vec::new(), bytes_left: 0 }) };
}

/// Begins an attempt: no address is allowed yet, and at most `bytes` may be received.
pub(crate) fn begin_attempt(bytes: usize) {
    ATTEMPT_SCOPE
        .with_borrow_mut(|scope| *scope = AttemptScope { allowed_peers: Vec::new(), bytes_left: bytes });
}

/// Allows connections to these addresses and no others.
pub(super) fn allow_peers(peers: &[SocketAddr]) {
    ATTEMPT_SCOPE.with_borrow_mut(|scope| scope.allowed_peers = peers.to_vec());
}

/// Whether the attempt may use a connection to this peer.
pub(super) fn is_peer_allowed(peer: SocketAddr) -> bool {
    ATTEMPT_SCOPE.with_borrow(|scope| scope.allowed_peers.contains(&peer))
}

/// Counts received bytes. Returns `false` if the attempt has received more than it may.
#[must_use]
pub(super) fn count_received(bytes: usize) -> bool {
    ATTEMPT_SCOPE.with_borrow_mut(|scope| match scope.bytes_left.checked_sub(bytes) {
        Some(left) => {
            scope.bytes_left = left;
            true
        }
        None => false,
    })
}

#[cfg(test)]
mod tests {
    use super::{allow_peers, begin_attempt, count_received, is_peer_allowed};

    #[test]
    fn an_attempt_connects_only_to_addresses_checked_for_it() {
        let (first, second) = ("192.0.2.1:443".parse().unwrap(), "192.0.2.1:444".parse().unwrap());
        begin_attempt(10);
        assert!(!is_peer_allowed(first));
        allow_peers(&[first]);
        assert!(is_peer_allowed(first) && !is_peer_allowed(second));
        allow_peers(&[second]);
        assert!(!is_peer_allowed(first));
        begin_attempt(10);
        assert!(!is_peer_allowed(second));
    }

    #[test]
    fn the_bytes_received_by_an_attempt_are_limited() {
        begin_attempt(10);
        assert!(count_received(4) && count_received(6) && count_received(0));
        assert!(!count_received(1));
    }
}
