//! Whether a client has ended its side of a connection.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Poll, Waker};

/// Tells requests that wait for something other than their client that nobody may be there any more. Shared, on one thread, by the
/// code that reads a connection and its requests.
#[derive(Debug, Clone, Default)]
pub(crate) struct ClientEnd(Rc<State>);

#[derive(Debug, Default)]
struct State {
    has_ended: Cell<bool>,
    waiting: RefCell<Option<Waker>>,
}

impl ClientEnd {
    /// The client sends nothing more: it has closed the connection, or its side of it.
    pub(crate) fn record_end(&self) {
        self.0.has_ended.set(true);
        if let Some(waker) = self.0.waiting.take() {
            waker.wake();
        }
    }

    /// Waits for the end. A connection has one request at a time, so one can wait.
    pub(crate) async fn ended(&self) {
        poll_fn(|context| {
            if self.0.has_ended.get() {
                return Poll::Ready(());
            }
            self.0.waiting.replace(Some(context.waker().clone()));
            Poll::Pending
        })
        .await;
    }
}
