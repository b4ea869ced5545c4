//! Saves the memory of idle connections.
//!
//! The HTTP parser keeps its buffers of 16 KiB and more for as long as it exists. Therefore it exists only during
//! requests: a connection starts without a parser and gets one when the head of a request has arrived. It drops the
//! parser after the response, or one second later if valid credentials were used.

use std::cell::RefCell;
use std::future::{Future, poll_fn};
use std::io;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll};

use actix_http::error::DispatchError;
use actix_service::Service;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::framing::StrictStream;

/// The stream of a connection. It exists longer than its parsers.
pub(super) type SharedStream<IO> = Rc<RefCell<StrictStream<IO>>>;

/// The stream of a connection while a parser uses it.
pub(super) struct ParserStream<IO>(pub(super) SharedStream<IO>);

/// Serves the requests of a connection until the connection ends or `stop` completes.
pub(super) async fn serve_connection<IO, S>(
    http: Rc<S>,
    stream: SharedStream<IO>,
    peer: Option<SocketAddr>,
    stop: impl Future<Output = ()>,
) -> Result<(), DispatchError>
where
    IO: AsyncRead + AsyncWrite + Unpin,
    S: Service<(ParserStream<IO>, Option<SocketAddr>), Response = (), Error = DispatchError>,
{
    let mut stop = pin!(stop);
    loop {
        let has_request = poll_fn(|context| {
            if stop.as_mut().poll(context).is_ready() {
                return Poll::Ready(Ok(false));
            }
            stream.borrow_mut().poll_request(context)
        });
        if !has_request.await? {
            break;
        }
        stream.borrow_mut().set_has_parser(true);
        Box::pin(http.call((ParserStream(Rc::clone(&stream)), peer))).await?;
        let mut stream = stream.borrow_mut();
        if !stream.is_idle() {
            return Ok(()); // the parser has shut it down
        }
        stream.set_has_parser(false);
    }
    poll_fn(|context| Pin::new(&mut *stream.borrow_mut()).poll_shutdown(context)).await?;
    Ok(())
}

impl<IO: AsyncRead + AsyncWrite + Unpin> AsyncRead for ParserStream<IO> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        out: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.0.borrow_mut()).poll_read(context, out)
    }
}

impl<IO: AsyncRead + AsyncWrite + Unpin> AsyncWrite for ParserStream<IO> {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut *self.0.borrow_mut()).poll_write(context, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.0.borrow_mut()).poll_flush(context)
    }

    /// Shuts the stream down, unless it is idle: then only the parser ends.
    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut stream = self.0.borrow_mut();
        if stream.is_idle() { Poll::Ready(Ok(())) } else { Pin::new(&mut *stream).poll_shutdown(context) }
    }
}
