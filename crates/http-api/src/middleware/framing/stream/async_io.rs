//! The side of the stream that the parser reads and writes.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::{CONTINUE_RESPONSE, NextBytes, StrictStream};

impl<IO: AsyncRead + AsyncWrite + Unpin> AsyncRead for StrictStream<IO> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        out: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        this.connection.clear_reader();
        let mut next = NextBytes::Pass;
        loop {
            next = match next {
                NextBytes::Pass if this.received.copy_approved(out) => return Poll::Ready(Ok(())),
                NextBytes::Pass => this.next_bytes(),
                NextBytes::More => ready!(this.poll_receive(context))?,
                NextBytes::Hold => {
                    this.connection.wake_on_response(context.waker());
                    return Poll::Pending;
                }
                NextBytes::End => return Poll::Ready(Ok(())),
            };
        }
    }
}

impl<IO: AsyncRead + AsyncWrite + Unpin> AsyncWrite for StrictStream<IO> {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        ready!(this.poll_interim(context))?;
        let poll = Pin::new(&mut this.io).poll_write(context, bytes);
        if let Poll::Ready(Ok(count)) = &poll {
            this.stall_detector.record_read(*count);
        }
        this.fail_if_stalled(poll, context)
    }

    /// actix-web polls a request, writes everything that is ready and then flushes. So at this point the previous
    /// response has been written completely, and an interim response cannot be inserted into it.
    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.connection.take_continue() {
            this.interim_response = CONTINUE_RESPONSE;
        }
        ready!(this.poll_interim(context))?;
        let poll = Pin::new(&mut this.io).poll_flush(context);
        if poll.is_ready() {
            this.stall_detector.reset_timer();
            this.connection.record_flush();
        }
        this.fail_if_stalled(poll, context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        while !this.final_response.is_empty() {
            let poll = Pin::new(&mut this.io).poll_write(context, &this.final_response);
            let count = ready!(this.fail_if_stalled(poll, context))?;
            if count == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            this.final_response.drain(..count);
        }
        if !this.is_shut_down {
            let poll = Pin::new(&mut this.io).poll_shutdown(context);
            ready!(this.fail_if_stalled(poll, context))?;
            this.is_shut_down = true;
            if this.is_clean() {
                return Poll::Ready(Ok(()));
            }
            this.read_timer.stop_timer();
        }
        this.poll_drain(context).map(Ok)
    }
}
