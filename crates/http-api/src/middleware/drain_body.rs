//! Discards the unread rest of a request's body before the response if the rest is small, so that the connection can be
//! reused (behaviour 2.8).

use std::cell::RefCell;
use std::future::poll_fn;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;

use actix_web::HttpMessage as _;
use actix_web::dev::{Payload, ServiceRequest};
use actix_web::error::PayloadError;
use actix_web::http::header::{CONTENT_LENGTH, TRANSFER_ENCODING};
use actix_web::web::Bytes;
use futures_util::Stream;
use tokio::time::timeout;

use super::framing::Connection;

/// The maximum number of bytes that are discarded.
const DISCARDED_BYTES_MAX: usize = 64 << 10;
/// If a client that sent `Expect: 100-continue` sends no part of its body for this long, it is waiting for
/// `100 Continue`.
const EXPECT_WAIT: Duration = Duration::from_millis(100);

/// A request body that the endpoint may read or leave unread.
pub(super) struct DrainableBody {
    body: Rc<RefCell<BodyState>>,
    /// The value of `Content-Length`, if given.
    length: Option<usize>,
}

struct BodyState {
    payload: Payload,
    end: BodyEnd,
    /// The connection, which knows whether the client is waiting for `100 Continue`.
    connection: Option<Rc<Connection>>,
}

/// How the body ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BodyEnd {
    Open,
    Complete,
    Broken,
    /// The rest is not read, because it is too large or the client waits for `100 Continue`.
    Unread,
}

/// The stream of the body for the endpoint.
struct BodyReader(Rc<RefCell<BodyState>>);

impl DrainableBody {
    /// Replaces the body of a request with a stream that records how the body ended. Returns `None` if the request has
    /// no body.
    pub(super) fn replace_body(
        request: &mut ServiceRequest,
        connection: Option<Rc<Connection>>,
    ) -> Option<Self> {
        let headers = request.headers();
        let length = headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse().ok());
        if length.unwrap_or(0) == 0 && !headers.contains_key(TRANSFER_ENCODING) {
            return None;
        }
        let body = BodyState { payload: request.take_payload(), end: BodyEnd::Open, connection };
        let body = Rc::new(RefCell::new(body));
        request.set_payload(Payload::Stream { payload: Box::pin(BodyReader(Rc::clone(&body))) });
        Some(Self { body, length })
    }

    /// Whether the body is chunked. Such a body may turn out to be malformed only at its end.
    pub(super) fn is_chunked(&self) -> bool {
        self.length.is_none()
    }

    /// Whether the body was malformed or incomplete, as far as it was read.
    pub(super) fn is_broken(&self) -> bool {
        self.body.borrow().end == BodyEnd::Broken
    }

    /// Reads and discards the rest of the body. Stops after 64 KiB. Reads nothing if `Content-Length` exceeds 64 KiB,
    /// even if most of the body was read before, or if the client still waits for `100 Continue` after [`EXPECT_WAIT`].
    /// Returns whether the whole body was read. The `StrictStream` of the connection ends a body that arrives too
    /// slowly.
    pub(super) async fn drain_rest(&self) -> bool {
        let (end, awaits_continue) = {
            let body = self.body.borrow();
            (body.end, body.awaits_continue())
        };
        match end {
            BodyEnd::Complete => true,
            BodyEnd::Open if self.length.is_none_or(|length| length <= DISCARDED_BYTES_MAX) => {
                let mut left = DISCARDED_BYTES_MAX;
                if awaits_continue {
                    let _began = timeout(EXPECT_WAIT, self.discard_next(&mut left, false)).await;
                    if self.body.borrow().awaits_continue() {
                        return self.leave_unread();
                    }
                }
                while self.discard_next(&mut left, true).await {}
                self.leave_unread()
            }
            BodyEnd::Open | BodyEnd::Broken | BodyEnd::Unread => false,
        }
    }

    /// Decides that no more of the body is read. Returns whether the whole body was read before.
    fn leave_unread(&self) -> bool {
        let mut body = self.body.borrow_mut();
        if body.end == BodyEnd::Open {
            body.end = BodyEnd::Unread;
        }
        body.end == BodyEnd::Complete
    }

    /// Reads and discards the next part of the body. Returns false at the end of the body, or if the part exceeds
    /// `left` bytes. With `request_more`, a waiting client is asked to send the body.
    async fn discard_next(&self, left: &mut usize, request_more: bool) -> bool {
        let next = poll_fn(|context| self.body.borrow_mut().poll_part(context, request_more)).await;
        let Some(Ok(bytes)) = next else { return false };
        let fits = bytes.len() <= *left;
        *left = left.saturating_sub(bytes.len());
        fits
    }
}

impl BodyState {
    /// Whether the client is waiting for `100 Continue`.
    fn awaits_continue(&self) -> bool {
        self.connection.as_ref().is_some_and(|connection| connection.awaits_continue())
    }

    /// Polls for the next part. With `request_more`, a waiting client is asked to send the body.
    fn poll_part(
        &mut self,
        context: &mut Context<'_>,
        request_more: bool,
    ) -> Poll<Option<Result<Bytes, PayloadError>>> {
        if self.end != BodyEnd::Open {
            return Poll::Ready(None);
        }
        if let Some(connection) = self.connection.as_ref().filter(|_| request_more) {
            connection.request_body_part();
        }
        let next = Pin::new(&mut self.payload).poll_next(context);
        match &next {
            Poll::Ready(None) => self.end = BodyEnd::Complete,
            Poll::Ready(Some(Err(_))) => self.end = BodyEnd::Broken,
            Poll::Ready(Some(Ok(_))) | Poll::Pending => {}
        }
        next
    }
}

impl Stream for BodyReader {
    type Item = Result<Bytes, PayloadError>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.borrow_mut().poll_part(context, true)
    }
}

#[cfg(test)]
mod tests {
    use actix_web::test::TestRequest;
    use futures_util::stream::{self, StreamExt as _};
    use tokio::time::{Instant, sleep};

    use super::*;

    /// Drops a body whose parts arrive at intervals. Returns whether it was complete, and after how many milliseconds.
    async fn drain_parts(
        length: Option<usize>,
        parts: Vec<(u64, usize)>,
        connection: Option<Rc<Connection>>,
    ) -> (bool, u128) {
        let request = TestRequest::post();
        let request = match length {
            Some(length) => request.insert_header((CONTENT_LENGTH, length)),
            None => request.insert_header((TRANSFER_ENCODING, "chunked")),
        };
        let mut request = request.to_srv_request();
        let (started_at, sender) = (Instant::now(), connection.clone());
        let parts = stream::iter(parts).then(move |(seconds, size)| {
            let sender = sender.clone();
            async move {
                sleep(Duration::from_secs(seconds)).await;
                if let Some(connection) = sender {
                    connection.record_body_start();
                }
                Ok(Bytes::from(vec![7; size]))
            }
        });
        request.set_payload(Payload::Stream { payload: Box::pin(parts) });
        let body = DrainableBody::replace_body(&mut request, connection).unwrap();
        (body.drain_rest().await, started_at.elapsed().as_millis())
    }

    #[tokio::test(start_paused = true)]
    async fn a_small_body_is_read_however_slowly_it_arrives() {
        assert_eq!(drain_parts(Some(3), vec![(2, 1), (3, 2)], None).await, (true, 5_000));
        assert_eq!(drain_parts(Some(64 << 10), vec![(2, 64 << 10)], None).await, (true, 2_000));
        assert_eq!(drain_parts(None, vec![(2, 60 << 10), (2, 4 << 10)], None).await, (true, 4_000));
    }

    #[tokio::test(start_paused = true)]
    async fn a_large_body_is_not_read() {
        assert_eq!(drain_parts(Some((64 << 10) + 1), vec![(1, 9)], None).await, (false, 0));
        assert_eq!(drain_parts(None, vec![(1, 60 << 10), (1, (4 << 10) + 1)], None).await, (false, 2_000));
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_waits_for_100_continue_does_not_get_it_and_other_bodies_are_read() {
        let awaited = || {
            let connection = Rc::<Connection>::default();
            connection.begin_request(true);
            connection
        };
        let connection = awaited();
        assert_eq!(drain_parts(Some(3), vec![(9, 3)], Some(Rc::clone(&connection))).await, (false, 100));
        assert!(!connection.take_continue());
        assert_eq!(drain_parts(Some(3), vec![(0, 1), (2, 2)], Some(awaited())).await, (true, 2_000));
    }
}
