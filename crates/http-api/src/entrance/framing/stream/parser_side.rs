//! The side of the stream that the parser reads and writes.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::{GO_AHEAD, Guarded, NextBytes};

impl<IO: AsyncRead + AsyncWrite + Unpin> AsyncRead for Guarded<IO> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        out: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        this.connection.forget_reader();
        let mut next = NextBytes::Pass;
        loop {
            next = match next {
                NextBytes::Pass if this.inbox.pass(out) => return Poll::Ready(Ok(())),
                NextBytes::Pass => this.next(),
                NextBytes::More => ready!(this.fill(context))?,
                NextBytes::Hold => {
                    this.connection.wake_at_end(context.waker());
                    return Poll::Pending;
                }
                NextBytes::End => return Poll::Ready(Ok(())),
            };
        }
    }
}

impl<IO: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Guarded<IO> {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        ready!(this.poll_interim(context))?;
        let poll = Pin::new(&mut this.io).poll_write(context, bytes);
        if let Poll::Ready(Ok(count)) = &poll {
            this.taking.took(*count);
        }
        this.unless_stalled(poll, context)
    }

    /// actix-web flushes only after everything has been written, and each time after it has polled a request. So at this point
    /// no part of the previous response can follow an interim response.
    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.connection.takes_go_ahead() {
            this.interim = GO_AHEAD;
        }
        ready!(this.poll_interim(context))?;
        let poll = Pin::new(&mut this.io).poll_flush(context);
        if poll.is_ready() {
            this.taking.is_done();
            this.connection.is_flushed();
        }
        this.unless_stalled(poll, context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        while !this.farewell.is_empty() {
            let poll = Pin::new(&mut this.io).poll_write(context, &this.farewell);
            let count = ready!(this.unless_stalled(poll, context))?;
            if count == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            this.farewell.drain(..count);
        }
        if !this.is_shut {
            let poll = Pin::new(&mut this.io).poll_shutdown(context);
            ready!(this.unless_stalled(poll, context))?;
            this.is_shut = true;
            if this.is_clean() {
                return Poll::Ready(Ok(()));
            }
            this.reading.off();
        }
        this.linger(context).map(Ok)
    }
}
