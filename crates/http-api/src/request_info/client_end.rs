//! Whether a client has ended its side of a connection.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Poll, Waker};

/// Notifies a waiting request that its client may have disconnected. The code that reads a connection and the
/// connection's requests share it; both run on one thread.
#[derive(Debug, Clone, Default)]
pub(crate) struct ClientEnd(Rc<State>);

#[derive(Debug, Default)]
struct State {
    has_ended: Cell<bool>,
    waiting: RefCell<Option<Waker>>,
}

impl ClientEnd {
    /// Records that the client sends nothing more, because it has closed the connection or its side of it.
    pub(crate) fn record_end(&self) {
        self.0.has_ended.set(true);
        if let Some(waker) = self.0.waiting.take() {
            waker.wake();
        }
    }

    /// Waits for the end. Only one request can wait, because a connection has one request at a time.
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

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::ClientEnd;

    #[test]
    fn the_end_of_the_client_ends_the_wait() {
        let client_end = ClientEnd::default();
        let mut waiting = Box::pin(client_end.ended());
        assert_eq!(waiting.as_mut().now_or_never(), None);
        client_end.clone().record_end();
        assert_eq!(waiting.now_or_never(), Some(()));
        assert_eq!(client_end.ended().now_or_never(), Some(()));
    }
}
