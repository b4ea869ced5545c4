//! A byte stream out of which only sound requests come, one after the other.

use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::alarm::{Alarm, Taking};
use super::connection::{Connection, Turn};
use super::inbox::Inbox;
use super::{Framing, Judged, Refusal};
use crate::arrival::BodyFault;

const HEAD_WITHIN: Duration = Duration::from_secs(5);
const BODY_WITHIN: Duration = Duration::from_secs(10);
/// How long bytes that nobody asked for are taken behind the last answer. Where they are left lying the system resets
/// the connection, and the answer may be lost with it.
const LINGER: Duration = Duration::from_secs(1);

const GO_AHEAD: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";

/// Makes the whole answer to a head that is refused; without a body where the request was a HEAD.
pub(crate) type Refuse = Rc<dyn Fn(Refusal, bool) -> Vec<u8>>;

/// A stream that is read strictly.
pub(crate) struct Guarded<IO> {
    io: IO,
    inbox: Inbox,
    framing: Framing,
    connection: Rc<Connection>,
    body_fault: BodyFault,
    refuse: Refuse,
    /// What is said before an answer.
    interim: Vec<u8>,
    /// The answer to a head that is refused: written behind all others, when the connection is shut down.
    farewell: Vec<u8>,
    /// No request has come yet.
    is_fresh: bool,
    /// The client sends no more.
    has_ended: bool,
    /// Nothing more is passed on.
    is_cut: bool,
    /// Our side has said its last.
    is_shut: bool,
    reading: Alarm,
    taking: Taking,
}

/// What comes next for the parser.
enum NextBytes {
    /// What may pass, if anything may.
    Pass,
    /// What depends on the client's next bytes.
    More,
    /// Something, once the request before it has its answer.
    Hold,
    End,
}

impl<IO: AsyncRead + AsyncWrite + Unpin> Guarded<IO> {
    pub(crate) fn new(io: IO, refuse: Refuse) -> Self {
        Self {
            io,
            inbox: Inbox::new(),
            framing: Framing::new(),
            connection: Rc::default(),
            body_fault: BodyFault::default(),
            refuse,
            interim: Vec::new(),
            farewell: Vec::new(),
            is_fresh: true,
            has_ended: false,
            is_cut: false,
            is_shut: false,
            reading: Alarm::default(),
            taking: Taking::default(),
        }
    }

    /// What its requests share with it.
    pub(crate) fn connection(&self) -> Rc<Connection> {
        Rc::clone(&self.connection)
    }

    /// What is wrong with the body of its request.
    pub(crate) fn body_fault(&self) -> BodyFault {
        self.body_fault.clone()
    }

    fn next(&mut self) -> NextBytes {
        let turn = self.connection.turn();
        if self.is_cut || turn == Turn::Nobody {
            return NextBytes::End;
        }
        let was_in_head = self.framing.is_in_head();
        if was_in_head && turn == Turn::Service && !self.inbox.is_empty() {
            return NextBytes::Hold;
        }
        match self.framing.judge(self.inbox.unread()) {
            Ok(Judged::Head(count, head)) => {
                self.inbox.approve_without(count, &head.cuts);
                self.is_fresh = false;
                self.connection.pass_turn(head.expects && !self.framing.is_in_head());
                self.reading.off();
                NextBytes::Pass
            }
            Ok(Judged::Pass(count)) => {
                self.inbox.approve(count);
                if self.framing.is_in_head() {
                    self.reading.off();
                }
                NextBytes::Pass
            }
            Ok(Judged::Skip(count)) => {
                self.inbox.skip(count);
                NextBytes::Pass
            }
            Ok(Judged::More) if !self.has_ended => NextBytes::More,
            Ok(Judged::More) if was_in_head && self.inbox.is_empty() => NextBytes::End,
            Ok(Judged::More) => self.refuse(Refusal::Incomplete),
            Err(refusal) => self.refuse(refusal),
        }
    }

    /// Of a head that is refused nothing has passed yet, and nothing passes any more: it is answered here. Of a body
    /// whoever reads it waits for the rest, and is told that there is none.
    fn refuse(&mut self, refusal: Refusal) -> NextBytes {
        self.reading.off();
        self.is_cut = true;
        if self.framing.is_in_head() {
            self.farewell = (self.refuse)(refusal, self.inbox.unread().starts_with(b"HEAD "));
        } else {
            self.body_fault.say(refusal.message());
        }
        NextBytes::End
    }

    /// Takes what the client has sent, or sees that it takes too long.
    fn fill(&mut self, context: &mut Context<'_>) -> Poll<io::Result<NextBytes>> {
        let mut room = ReadBuf::new(self.inbox.room(!self.framing.is_in_head()));
        match Pin::new(&mut self.io).poll_read(context, &mut room) {
            Poll::Ready(read) => read?,
            Poll::Pending => return self.wait(context).map(Ok),
        }
        let count = room.filled().len();
        self.inbox.filled(count);
        self.has_ended = count == 0;
        Poll::Ready(Ok(NextBytes::Pass))
    }

    fn wait(&mut self, context: &mut Context<'_>) -> Poll<NextBytes> {
        let (within, refusal) = if !self.framing.is_in_head() {
            // The answer may come first, and be the last.
            self.connection.wake_at_end(context.waker());
            (BODY_WITHIN, Some(Refusal::SlowBody))
        } else if !self.inbox.is_empty() {
            (HEAD_WITHIN, Some(Refusal::SlowHead))
        } else if !self.is_fresh && self.connection.turn() == Turn::Service {
            self.connection.wake_at_end(context.waker()); // the time of the next head begins with the answer
            return Poll::Pending;
        } else if self.is_fresh || !self.connection.is_trusted() {
            (HEAD_WITHIN, None)
        } else {
            return Poll::Pending;
        };
        if !self.reading.rings(within, context) {
            return Poll::Pending;
        }
        Poll::Ready(match refusal {
            Some(refusal) => self.refuse(refusal),
            None => {
                self.is_cut = true;
                NextBytes::End
            }
        })
    }

    /// Bounds how long the client leaves no room, or hardly any.
    fn unless_stalled<T>(
        &mut self,
        poll: Poll<io::Result<T>>,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<T>> {
        if poll.is_pending() && self.taking.is_stalled(context) {
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        poll
    }

    /// Whether all that came was asked for.
    fn is_clean(&self) -> bool {
        let is_between = self.connection.turn() == Turn::Client && self.framing.is_in_head();
        is_between && self.inbox.is_empty() && !self.is_cut
    }

    /// Takes and drops what still comes, until the client ends too or has had its time.
    fn linger(&mut self, context: &mut Context<'_>) -> Poll<()> {
        loop {
            self.inbox.replace(&[]);
            let mut room = ReadBuf::new(self.inbox.room(false));
            match Pin::new(&mut self.io).poll_read(context, &mut room) {
                Poll::Ready(Ok(())) if !room.filled().is_empty() => {}
                Poll::Ready(_) => return Poll::Ready(()),
                Poll::Pending if self.reading.rings(LINGER, context) => return Poll::Ready(()),
                Poll::Pending => return Poll::Pending,
            }
        }
    }
}

impl<IO: AsyncRead + AsyncWrite + Unpin> AsyncRead for Guarded<IO> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        out: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        this.connection.forget_reader();
        // Not where the body has come without it.
        if this.connection.takes_go_ahead() && this.inbox.is_empty() && !this.framing.is_in_head() {
            this.interim.extend_from_slice(GO_AHEAD);
        }
        while !this.interim.is_empty() {
            let count = ready!(Pin::new(&mut this.io).poll_write(context, &this.interim))?;
            this.interim.drain(..count);
            if this.interim.is_empty() {
                ready!(Pin::new(&mut this.io).poll_flush(context))?;
            }
        }
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
        let poll = Pin::new(&mut this.io).poll_write(context, bytes);
        if let Poll::Ready(Ok(count)) = &poll {
            this.taking.took(*count);
        }
        this.unless_stalled(poll, context)
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let poll = Pin::new(&mut this.io).poll_flush(context);
        if poll.is_ready() {
            this.taking.is_done();
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

#[cfg(test)]
mod tests;
