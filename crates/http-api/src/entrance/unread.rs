//! What nobody read of a request's body: a little of it is taken and dropped before the answer, so that the connection can
//! go on (behaviour 2.8).

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

/// A larger rest is not taken.
const DROPPED_MAX: usize = 64 << 10;
/// Nor is one waited for that does not come.
const WITHIN: Duration = Duration::from_secs(1);

/// A body that somebody may read, or not.
pub(super) struct Unread {
    body: Rc<RefCell<Body>>,
    /// How long it is, where that was said.
    length: Option<usize>,
}

struct Body {
    payload: Payload,
    end: End,
    /// The client may wait for somebody to want it.
    connection: Option<Rc<Connection>>,
}

/// Whether all of a body was there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    NotYet,
    Whole,
    Broken,
}

/// The same body for whoever reads it.
struct Reader(Rc<RefCell<Body>>);

impl Unread {
    /// Watches over a request's body, where it has one.
    pub(super) fn of(request: &mut ServiceRequest, connection: Option<Rc<Connection>>) -> Option<Self> {
        let headers = request.headers();
        let length = headers.get(CONTENT_LENGTH).and_then(|it| it.to_str().ok()?.parse().ok());
        if length.unwrap_or(0) == 0 && !headers.contains_key(TRANSFER_ENCODING) {
            return None;
        }
        let body = Body { payload: request.take_payload(), end: End::NotYet, connection };
        let body = Rc::new(RefCell::new(body));
        request.set_payload(Payload::Stream { payload: Box::pin(Reader(Rc::clone(&body))) });
        Some(Self { body, length })
    }

    /// Whether it comes in chunks, so that it is known to be sound only at its end.
    pub(super) fn is_chunked(&self) -> bool {
        self.length.is_none()
    }

    /// Takes and drops what is left, unless that is much or does not come; whether nothing is left.
    pub(super) async fn finish(&self) -> bool {
        let (end, is_awaited) = {
            let body = self.body.borrow();
            (body.end, body.connection.as_ref().is_some_and(|it| it.is_awaited()))
        };
        match end {
            End::Whole => true,
            End::NotYet if self.length.is_none_or(|it| it <= DROPPED_MAX) && !is_awaited => {
                timeout(WITHIN, self.drop_all()).await.unwrap_or(false)
            }
            End::NotYet | End::Broken => false,
        }
    }

    async fn drop_all(&self) -> bool {
        let mut left = DROPPED_MAX;
        loop {
            match poll_fn(|context| self.body.borrow_mut().poll(context)).await {
                None => return true,
                Some(Ok(bytes)) if bytes.len() <= left => left -= bytes.len(),
                Some(_) => return false,
            }
        }
    }
}

impl Body {
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Bytes, PayloadError>>> {
        if self.end != End::NotYet {
            return Poll::Ready(None);
        }
        if let Some(connection) = &self.connection {
            connection.want_body();
        }
        let next = Pin::new(&mut self.payload).poll_next(context);
        match &next {
            Poll::Ready(None) => self.end = End::Whole,
            Poll::Ready(Some(Err(_))) => self.end = End::Broken,
            Poll::Ready(Some(Ok(_))) | Poll::Pending => {}
        }
        next
    }
}

impl Stream for Reader {
    type Item = Result<Bytes, PayloadError>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.borrow_mut().poll(context)
    }
}
