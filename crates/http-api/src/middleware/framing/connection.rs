//! The state that the `StrictStream` of a connection shares with its requests: when the next request may begin, how
//! much of a body may be passed on, and how much memory the connection holds.

use std::cell::Cell;
use std::rc::Rc;
use std::task::Waker;

use crate::middleware::receive_budget::ConnectionUsage;

/// The number of bytes of a body that are passed to the parser each time the request asks for more. For a client
/// without valid credentials, they fit into the parser's initial buffer.
const BODY_PART_BYTES: usize = 6 << 10;
const TRUSTED_BODY_PART_BYTES: usize = 32 << 10;

/// The maximum number of bytes that a connection holds while it sends a page to a client that does not read: the
/// buffers of TLS and of the HTTP server.
const PAGE_BYTES_MAX: usize = 128 << 10;

/// Whether the client or the service acts next on a connection.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ConnectionPhase {
    /// The client may send a request.
    #[default]
    AwaitRequest,
    /// The service must respond to a request.
    AwaitResponse,
    /// The last response was sent, and nothing after it is read.
    Finished,
}

/// The state that the reader of a connection shares with its requests, which run on the same thread.
#[derive(Default)]
pub(crate) struct Connection {
    phase: Cell<ConnectionPhase>,
    reader: Cell<Option<Waker>>,
    is_trusted: Cell<bool>,
    continue_state: Cell<ContinueState>,
    /// The bytes of the body that may be passed to the parser before the request asks for more.
    body_credit: Cell<usize>,
    /// Whether the current request has started to read its body.
    is_body_wanted: Cell<bool>,
    /// The received bytes in memory. They are counted only while the connection is not trusted.
    usage: ConnectionUsage,
    /// How many bytes of `usage` are the head of the current request.
    head_bytes: Cell<usize>,
    /// Whether the body of a page is being sent.
    has_page: Cell<bool>,
}

/// Owned by the body of a page. Dropping it records that the whole body was passed to the HTTP server.
pub(crate) struct PageGuard(Rc<Connection>);

impl Drop for PageGuard {
    fn drop(&mut self) {
        self.0.has_page.set(false);
    }
}

/// Whether a client waits for `100 Continue` before it sends its body.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum ContinueState {
    #[default]
    NotNeeded,
    /// The client waits.
    Awaited,
    /// The request reads its body, so `100 Continue` must be sent.
    Due,
}

impl Connection {
    /// A new connection whose memory is counted in `usage`.
    pub(crate) fn new(usage: ConnectionUsage) -> Self {
        Self { usage, ..Self::default() }
    }

    /// Whether the connection may receive more bytes.
    pub(crate) fn has_room(&self) -> bool {
        self.is_trusted() || self.usage.has_room()
    }

    /// Counts received bytes.
    pub(crate) fn count_received(&self, count: usize) {
        if !self.is_trusted() {
            self.usage.set_bytes(self.usage.bytes() + count);
        }
    }

    /// Counts a page of `bytes` until its body is dropped and flushed; `None` if a memory limit is reached.
    pub(crate) fn begin_page(self: &Rc<Self>, bytes: usize) -> Option<PageGuard> {
        if !self.is_trusted() && !self.usage.add_page(bytes.min(PAGE_BYTES_MAX)) {
            return None;
        }
        self.has_page.set(true);
        Some(PageGuard(Rc::clone(self)))
    }

    /// Records that all bytes written so far have reached the client.
    pub(crate) fn record_flush(&self) {
        if !self.has_page.get() {
            self.usage.release_page();
        }
    }

    /// Records that a head of `length` bytes was passed on. The parser holds it until the response is complete.
    pub(crate) fn pass_head(&self, length: usize) {
        self.head_bytes.set(length);
    }

    /// Records that the connection no longer holds received bytes.
    pub(crate) fn clear_received(&self) {
        self.usage.set_bytes(0);
    }

    /// Whether the client or the service acts next.
    pub(crate) fn phase(&self) -> ConnectionPhase {
        self.phase.get()
    }

    /// Records that a client with valid credentials uses the connection.
    pub(crate) fn mark_trusted(&self) {
        if !self.is_trusted.replace(true) {
            self.usage.release_received();
            self.wake_reader();
        }
    }

    /// Whether a client with valid credentials has used the connection.
    pub(crate) fn is_trusted(&self) -> bool {
        self.is_trusted.get()
    }

    /// Records that a request is passed on. With `expects`, its client waits for `100 Continue`.
    pub(crate) fn begin_request(&self, expects: bool) {
        self.phase.set(ConnectionPhase::AwaitResponse);
        self.continue_state.set(if expects { ContinueState::Awaited } else { ContinueState::NotNeeded });
        self.body_credit.set(self.body_part_bytes());
        self.is_body_wanted.set(false);
    }

    /// Whether the client waits for `100 Continue` and the request has not read its body yet.
    pub(crate) fn awaits_continue(&self) -> bool {
        self.continue_state.get() == ContinueState::Awaited
    }

    /// Records that the request reads its body, so the next part may be passed on.
    pub(crate) fn request_body_part(&self) {
        if self.awaits_continue() {
            self.continue_state.set(ContinueState::Due);
        }
        self.is_body_wanted.set(true);
        if self.body_credit.replace(self.body_part_bytes()) == 0 {
            self.wake_reader();
        }
    }

    /// The bytes of the body that may be passed on now.
    pub(crate) fn body_credit(&self) -> usize {
        self.body_credit.get()
    }

    /// Stops passing on the body until the request reads it. Returns whether the request has started to read it.
    pub(crate) fn withhold_body(&self) -> bool {
        self.body_credit.set(0);
        self.is_body_wanted.get()
    }

    /// Records that bytes of the body were received, so the client does not wait for `100 Continue`.
    pub(crate) fn record_body_start(&self) {
        self.continue_state.set(ContinueState::NotNeeded);
    }

    /// Records that `count` bytes of the body were passed on and `left` further bytes are available.
    pub(crate) fn pass_body(&self, count: usize, left: usize) {
        self.body_credit.set(self.body_credit.get().saturating_sub(count));
        if !self.is_trusted() {
            self.usage.set_bytes(self.head_bytes.get() + left);
        }
    }

    /// Whether `100 Continue` must be sent now; true at most once per request.
    pub(crate) fn take_continue(&self) -> bool {
        let is_due = self.continue_state.get() == ContinueState::Due;
        if is_due {
            self.continue_state.set(ContinueState::NotNeeded);
        }
        is_due
    }

    /// Records that a request has its response. With `is_last`, the connection closes after it.
    pub(crate) fn finish_response(&self, is_last: bool) {
        self.phase.set(if is_last { ConnectionPhase::Finished } else { ConnectionPhase::AwaitRequest });
        self.continue_state.set(ContinueState::NotNeeded);
        let head = self.head_bytes.take();
        if !self.is_trusted() {
            self.usage.set_bytes(self.usage.bytes().saturating_sub(head));
        }
        self.wake_reader();
    }

    /// Wakes `reader` when the current request has its response or asks for more of its body.
    pub(crate) fn wake_on_response(&self, reader: &Waker) {
        self.reader.set(Some(reader.clone()));
    }

    /// Records that the reader is awake and need not be woken.
    pub(crate) fn clear_reader(&self) {
        self.reader.set(None);
    }

    fn body_part_bytes(&self) -> usize {
        if self.is_trusted() { TRUSTED_BODY_PART_BYTES } else { BODY_PART_BYTES }
    }

    fn wake_reader(&self) {
        if let Some(reader) = self.reader.take() {
            reader.wake();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::Ordering;

    use super::*;
    use crate::middleware::receive_budget::AddressUsage;

    #[test]
    fn a_page_counts_until_its_body_is_dropped_and_flushed() {
        let address_usage = AddressUsage::default();
        let connection = Rc::new(Connection::new(ConnectionUsage::with_budget(
            &Arc::default(),
            Arc::clone(&address_usage),
        )));
        let counted = || address_usage.load(Ordering::Relaxed);
        let page = connection.begin_page(1 << 20);
        connection.record_flush();
        assert_eq!(counted(), PAGE_BYTES_MAX, "more of its body is to come");
        drop(page);
        assert_eq!(counted(), PAGE_BYTES_MAX, "the client has not taken it");
        connection.record_flush();
        assert_eq!(counted(), 0);
        connection.mark_trusted();
        assert!(connection.begin_page(7).is_some());
        assert_eq!(counted(), 0, "only connections without valid credentials are counted");
    }

    #[test]
    fn the_head_of_a_request_is_not_held_behind_its_response() {
        let connection = Connection::default();
        connection.count_received(5_000);
        connection.pass_head(4_900);
        connection.finish_response(false);
        assert_eq!(connection.usage.bytes(), 100);
    }
}
