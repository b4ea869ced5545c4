//! Whose turn it is on a connection: the strict reader under the parser and the requests above it agree here on when
//! the next request may begin.

use std::cell::Cell;
use std::task::Waker;

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
    /// Whose turn it is.
    pub(crate) fn turn(&self) -> Turn {
        self.turn.get()
    }

    /// Somebody with right credentials uses it.
    pub(crate) fn trust(&self) {
        self.is_trusted.set(true);
    }

    /// Whether somebody with right credentials has used it.
    pub(crate) fn is_trusted(&self) -> bool {
        self.is_trusted.get()
    }

    /// A request goes up; `expects` where the client waits to be told to send its body.
    pub(crate) fn pass_turn(&self, expects: bool) {
        self.turn.set(Turn::Service);
        self.go_ahead.set(if expects { GoAhead::Awaited } else { GoAhead::Needless });
    }

    /// Whether the client waits to be told to send its body, and nobody has wanted it yet.
    pub(crate) fn is_awaited(&self) -> bool {
        self.go_ahead.get() == GoAhead::Awaited
    }

    /// Somebody wants the body.
    pub(crate) fn want_body(&self) {
        if self.is_awaited() {
            self.go_ahead.set(GoAhead::Given);
            if let Some(reader) = self.reader.take() {
                reader.wake();
            }
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
        if let Some(reader) = self.reader.take() {
            reader.wake();
        }
    }

    /// Wakes the reader when the request that is up has its answer.
    pub(crate) fn wake_at_end(&self, reader: &Waker) {
        self.reader.set(Some(reader.clone()));
    }

    /// The reader is awake and looks for itself.
    pub(crate) fn forget_reader(&self) {
        self.reader.set(None);
    }
}
