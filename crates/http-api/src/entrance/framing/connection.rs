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
}

impl Connection {
    /// Whose turn it is.
    pub(crate) fn turn(&self) -> Turn {
        self.turn.get()
    }

    /// A request goes up.
    pub(crate) fn pass_turn(&self) {
        self.turn.set(Turn::Service);
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
