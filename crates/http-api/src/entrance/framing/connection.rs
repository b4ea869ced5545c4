//! Whose turn it is on a connection: the strict reader under the parser and the requests above it agree here on when
//! the next request may begin, and on how much of a body is passed on.

use std::cell::Cell;
use std::rc::Rc;
use std::task::Waker;

use crate::entrance::receive_budget::Held;

/// How much of a body is passed to the parser each time the request asks for more. On a connection without right credentials a part
/// fits into the buffer that the parser begins with.
const BODY_PART: usize = 6 << 10;
const TRUSTED_BODY_PART: usize = 32 << 10;

/// The most that a connection holds while a page goes out: the buffers of TLS and of the HTTP server, where the client does not read.
const PAGE_HELD_MAX: usize = 128 << 10;

/// Who has the word.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turn {
    /// The client: a request may come.
    #[default]
    Client,
    /// The service: a request has come and has no answer yet.
    Service,
    /// Nobody: the last answer was given, and nothing that follows is read.
    Nobody,
}

/// What a connection's reader and its requests share, on the one thread that both run on.
#[derive(Default)]
pub(crate) struct Connection {
    turn: Cell<Turn>,
    reader: Cell<Option<Waker>>,
    is_trusted: Cell<bool>,
    go_ahead: Cell<GoAhead>,
    /// How many bytes of the body may be passed to the parser before the request asks for more.
    body_credit: Cell<usize>,
    /// The request that is up has read of its body.
    is_body_wanted: Cell<bool>,
    /// What was received and is still held, as long as the connection is not trusted.
    held: Held,
    /// How much of that is the head of the request that is up.
    head: Cell<usize>,
    /// The body of a page is under way.
    has_page: Cell<bool>,
}

/// Goes with the body of a page.
pub(crate) struct PageUnderWay(Rc<Connection>);

impl Drop for PageUnderWay {
    fn drop(&mut self) {
        self.0.has_page.set(false);
    }
}

/// Whether a client waits for `100 Continue` before it sends its body.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum GoAhead {
    #[default]
    Needless,
    /// It waits.
    Awaited,
    /// The request reads its body: `100 Continue` is to be sent.
    Given,
}

impl Connection {
    /// A connection that holds `held`.
    pub(crate) fn new(held: Held) -> Self {
        Self { held, ..Self::default() }
    }

    /// Whether more may be received; not where it holds too much already.
    pub(crate) fn has_room(&self) -> bool {
        self.is_trusted() || self.held.has_room()
    }

    /// `count` bytes were received.
    pub(crate) fn received(&self, count: usize) {
        if !self.is_trusted() {
            self.held.set(self.held.bytes() + count);
        }
    }

    /// Counts a page of `bytes` until its body is dropped and what was sent of it is flushed; none where no more may be held.
    pub(crate) fn begin_page(self: &Rc<Self>, bytes: usize) -> Option<PageUnderWay> {
        if !self.is_trusted() && !self.held.add_page(bytes.min(PAGE_HELD_MAX)) {
            return None;
        }
        self.has_page.set(true);
        Some(PageUnderWay(Rc::clone(self)))
    }

    /// The client has taken all that was written.
    pub(crate) fn is_flushed(&self) {
        if !self.has_page.get() {
            self.held.release_page();
        }
    }

    /// A head of `length` bytes was passed on; the parser holds it until the request has its response.
    pub(crate) fn pass_head(&self, length: usize) {
        self.head.set(length);
    }

    /// Nothing is held any more.
    pub(crate) fn rest(&self) {
        self.held.set(0);
    }

    /// Whose turn it is.
    pub(crate) fn turn(&self) -> Turn {
        self.turn.get()
    }

    /// Somebody with right credentials uses it.
    pub(crate) fn trust(&self) {
        if !self.is_trusted.replace(true) {
            self.held.release();
            self.wake_reader();
        }
    }

    /// Whether somebody with right credentials has used it.
    pub(crate) fn is_trusted(&self) -> bool {
        self.is_trusted.get()
    }

    /// A request goes up; `expects` if the client waits for `100 Continue`.
    pub(crate) fn pass_turn(&self, expects: bool) {
        self.turn.set(Turn::Service);
        self.go_ahead.set(if expects { GoAhead::Awaited } else { GoAhead::Needless });
        self.body_credit.set(self.body_part());
        self.is_body_wanted.set(false);
    }

    /// Whether the client waits for `100 Continue` and the request has not read its body yet.
    pub(crate) fn is_awaited(&self) -> bool {
        self.go_ahead.get() == GoAhead::Awaited
    }

    /// The request reads its body: the next part may be passed on.
    pub(crate) fn want_body(&self) {
        if self.is_awaited() {
            self.go_ahead.set(GoAhead::Given);
        }
        self.is_body_wanted.set(true);
        if self.body_credit.replace(self.body_part()) == 0 {
            self.wake_reader();
        }
    }

    /// How many bytes of the body may be passed on.
    pub(crate) fn body_credit(&self) -> usize {
        self.body_credit.get()
    }

    /// Passes nothing on until the request reads its body; whether it has done so already.
    pub(crate) fn withholds_body(&self) -> bool {
        self.body_credit.set(0);
        self.is_body_wanted.get()
    }

    /// Bytes of the body have been received: the client does not wait for `100 Continue`.
    pub(crate) fn body_has_begun(&self) {
        self.go_ahead.set(GoAhead::Needless);
    }

    /// `count` bytes of the body have been passed on, and the next `left` bytes are there.
    pub(crate) fn pass_body(&self, count: usize, left: usize) {
        self.body_credit.set(self.body_credit.get().saturating_sub(count));
        if !self.is_trusted() {
            self.held.set(self.head.get() + left);
        }
    }

    /// Whether `100 Continue` is to be sent now; true once per request.
    pub(crate) fn takes_go_ahead(&self) -> bool {
        let is_given = self.go_ahead.get() == GoAhead::Given;
        if is_given {
            self.go_ahead.set(GoAhead::Needless);
        }
        is_given
    }

    /// A request has its answer; `is_last` where the connection closes behind it.
    pub(crate) fn end(&self, is_last: bool) {
        self.turn.set(if is_last { Turn::Nobody } else { Turn::Client });
        self.go_ahead.set(GoAhead::Needless);
        let head = self.head.take();
        if !self.is_trusted() {
            self.held.set(self.held.bytes().saturating_sub(head));
        }
        self.wake_reader();
    }

    /// Wakes the reader when the request that is up has its answer, or asks for more of its body.
    pub(crate) fn wake_at_end(&self, reader: &Waker) {
        self.reader.set(Some(reader.clone()));
    }

    /// The reader is awake and looks for itself.
    pub(crate) fn forget_reader(&self) {
        self.reader.set(None);
    }

    fn body_part(&self) -> usize {
        if self.is_trusted() { TRUSTED_BODY_PART } else { BODY_PART }
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
    use crate::entrance::receive_budget::Share;

    #[test]
    fn a_page_counts_until_its_body_is_dropped_and_flushed() {
        let share = Share::default();
        let connection = Rc::new(Connection::new(Held::of(&Arc::default(), Arc::clone(&share))));
        let counted = || share.load(Ordering::Relaxed);
        let page = connection.begin_page(1 << 20);
        connection.is_flushed();
        assert_eq!(counted(), PAGE_HELD_MAX, "more of its body is to come");
        drop(page);
        assert_eq!(counted(), PAGE_HELD_MAX, "the client has not taken it");
        connection.is_flushed();
        assert_eq!(counted(), 0);
        connection.trust();
        assert!(connection.begin_page(7).is_some());
        assert_eq!(counted(), 0, "only connections without right credentials are counted");
    }

    #[test]
    fn the_head_of_a_request_is_not_held_behind_its_response() {
        let connection = Connection::default();
        connection.received(5_000);
        connection.pass_head(4_900);
        connection.end(false);
        assert_eq!(connection.held.bytes(), 100);
    }
}
