//! Whose turn it is on a connection: the strict reader under the parser and the requests above it agree here on when
//! the next request may begin, and on how much of a body is passed on.

use std::cell::Cell;
use std::task::Waker;

use crate::entrance::receive_budget::Held;

/// How much of a body is passed to the parser each time the request asks for more. On a connection without right credentials a part
/// fits into the buffer that the parser begins with.
const BODY_PART: usize = 6 << 10;
const TRUSTED_BODY_PART: usize = 32 << 10;

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
    /// What was received and is still held, as long as the connection is not trusted.
    held: Held,
    /// How much of that is the head of the request that is up.
    head: Cell<usize>,
}

/// Whether a client waits to be told to send its body (`Expect: 100-continue`).
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum GoAhead {
    #[default]
    Needless,
    /// It waits.
    Awaited,
    /// Somebody wants the body: the client is to be told.
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

    /// Counts `bytes` that the connection is about to hold until the request that is up has its response; false, and nothing is
    /// counted, where it may not hold more.
    pub(crate) fn hold(&self, bytes: usize) -> bool {
        self.is_trusted() || self.held.grows(bytes)
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
        self.is_trusted.set(true);
        self.held.release();
    }

    /// Whether somebody with right credentials has used it.
    pub(crate) fn is_trusted(&self) -> bool {
        self.is_trusted.get()
    }

    /// A request goes up; `expects` where the client waits to be told to send its body.
    pub(crate) fn pass_turn(&self, expects: bool) {
        self.turn.set(Turn::Service);
        self.go_ahead.set(if expects { GoAhead::Awaited } else { GoAhead::Needless });
        self.body_credit.set(self.body_part());
    }

    /// Whether the client waits to be told to send its body, and nobody has wanted it yet.
    pub(crate) fn is_awaited(&self) -> bool {
        self.go_ahead.get() == GoAhead::Awaited
    }

    /// The request reads its body: the next part may be passed on.
    pub(crate) fn want_body(&self) {
        if self.is_awaited() {
            self.go_ahead.set(GoAhead::Given);
        }
        if self.body_credit.replace(self.body_part()) == 0 {
            self.wake_reader();
        }
    }

    /// How many bytes of the body may be passed on.
    pub(crate) fn body_credit(&self) -> usize {
        self.body_credit.get()
    }

    /// Bytes of the body have been received: the client does not wait to be told to send it.
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

    /// Whether the client is to be told now; asked once.
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
