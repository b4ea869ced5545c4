//! A byte stream that yields only well-formed requests, one after the other.

mod parser_side;

use std::io;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use guerdon_domain::ports::Deadlines;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::alarm::{Alarm, Taking};
use super::connection::{Connection, Turn};
use super::inbox::Inbox;
use super::{Framing, Judged, Refusal};
use crate::arrival::BodyFault;

/// How long unexpected bytes are read and discarded after the last response. If they stayed unread, the system would reset the
/// connection, and the response might be lost.
const UNREAD_INPUT_WAIT_MAX: Duration = Duration::from_secs(1);

/// The most bytes that are read at a time: the size of a TLS record.
const READ_BYTES_MAX: usize = 16 << 10;

const GO_AHEAD: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";

/// The error of the underlying stream when its connection has reached a memory limit.
pub(crate) const NO_ROOM: io::ErrorKind = io::ErrorKind::QuotaExceeded;

/// Renders the response to a refused head, without a body if the flag says that the request was a HEAD.
pub(crate) type Refuse = Rc<dyn Fn(Refusal, bool) -> Vec<u8>>;

/// A strictly read stream.
pub(crate) struct Guarded<IO> {
    io: IO,
    inbox: Inbox,
    framing: Framing,
    connection: Rc<Connection>,
    /// How long the connection may be idle after it has become trusted.
    keep_alive: Duration,
    body_fault: BodyFault,
    refuse: Refuse,
    /// The part of an interim response that is still to be written, before the response.
    interim: &'static [u8],
    /// The response to a refused head, which is written after all others when the connection is shut down.
    farewell: Vec<u8>,
    /// There was no request yet.
    is_fresh: bool,
    /// A parser reads the stream, because a request is in progress or ended a moment ago.
    has_parser: bool,
    /// The client has ended its side of the connection.
    has_ended: bool,
    /// Nothing more is passed on.
    is_cut: bool,
    /// The service has ended its side of the connection.
    is_shut: bool,
    reading: Alarm,
    taking: Taking,
}

/// What the parser gets next.
enum NextBytes {
    /// The approved bytes, if there are any.
    Pass,
    /// It depends on the next bytes of the client.
    More,
    /// Nothing until the current request has its response or asks for more of its body.
    Hold,
    End,
}

impl<IO: AsyncRead + AsyncWrite + Unpin> Guarded<IO> {
    pub(crate) fn new(io: IO, connection: Rc<Connection>, keep_alive: Duration, refuse: Refuse) -> Self {
        Self {
            io,
            inbox: Inbox::default(),
            framing: Framing::new(),
            connection,
            keep_alive,
            body_fault: BodyFault::default(),
            refuse,
            interim: &[],
            farewell: Vec::new(),
            is_fresh: true,
            has_parser: false,
            has_ended: false,
            is_cut: false,
            is_shut: false,
            reading: Alarm::default(),
            taking: Taking::default(),
        }
    }

    /// The state that the stream shares with its requests.
    pub(crate) fn connection(&self) -> Rc<Connection> {
        Rc::clone(&self.connection)
    }

    /// Where errors of the current request's body are reported.
    pub(crate) fn body_fault(&self) -> BodyFault {
        self.body_fault.clone()
    }

    /// Sets whether a parser reads the stream.
    pub(crate) fn set_parser(&mut self, is_there: bool) {
        self.has_parser = is_there;
    }

    /// Waits, without a parser, for the complete head of a request. Returns false if the stream must be shut down instead.
    pub(crate) fn poll_request(&mut self, context: &mut Context<'_>) -> Poll<io::Result<bool>> {
        let mut next = NextBytes::Pass;
        loop {
            next = match next {
                NextBytes::Pass if self.inbox.may_pass() => return Poll::Ready(Ok(true)),
                NextBytes::Pass => self.next(),
                NextBytes::More => ready!(self.fill(context))?,
                NextBytes::Hold | NextBytes::End => return Poll::Ready(Ok(false)),
            };
        }
    }

    /// Whether no request is in progress and more may follow, so that the parser may end while the stream stays open.
    pub(crate) fn is_at_rest(&self) -> bool {
        self.connection.turn() == Turn::Client && self.framing.is_in_head() && !self.is_cut && !self.has_ended
    }

    fn next(&mut self) -> NextBytes {
        let turn = self.connection.turn();
        if self.is_cut || turn == Turn::Nobody {
            return NextBytes::End;
        }
        let was_in_head = self.framing.is_in_head();
        let mut unread = self.inbox.unread();
        if was_in_head {
            // The end of the stream must wait, too: the parser would discard the part of a body that it has not decoded yet.
            if turn == Turn::Service && (self.has_ended || !unread.is_empty()) {
                return NextBytes::Hold;
            }
        } else if !unread.is_empty() {
            self.connection.body_has_begun();
            let credit = self.connection.body_credit();
            if credit == 0 {
                return NextBytes::Hold;
            }
            unread = unread.get(..credit).unwrap_or(unread);
        }
        match self.framing.judge(unread) {
            Ok(Judged::Head(count, head)) => {
                self.inbox.approve_without(count, &head.cuts);
                self.is_fresh = false;
                self.connection.pass_turn(head.expects && !self.framing.is_in_head());
                self.connection.pass_head(count);
                self.reading.off();
                NextBytes::Pass
            }
            Ok(Judged::Pass(count)) => {
                self.inbox.approve(count);
                self.connection.pass_body(count, self.inbox.unread().len() - count);
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

    /// Ends the stream for the parser. A refused head was not passed on at all, so its response is prepared here. The request that
    /// reads a refused body gets the error from `body_fault`.
    fn refuse(&mut self, refusal: Refusal) -> NextBytes {
        self.reading.off();
        self.is_cut = true;
        if self.framing.is_in_head() {
            self.farewell = (self.refuse)(refusal, self.inbox.unread().starts_with(b"HEAD "));
        } else {
            self.body_fault.say(refusal.message(), refusal.is_for_now());
        }
        NextBytes::End
    }

    /// Reads what the client has sent, or checks whether it takes too long.
    fn fill(&mut self, context: &mut Context<'_>) -> Poll<io::Result<NextBytes>> {
        let mut room = [const { MaybeUninit::uninit() }; READ_BYTES_MAX];
        let mut room = ReadBuf::uninit(&mut room);
        match self.receive(context, &mut room) {
            Poll::Ready(Ok(())) => {}
            Poll::Ready(Err(error)) if error.kind() == NO_ROOM => return self.without_room(context).map(Ok),
            Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
            Poll::Pending => return self.wait(context).map(Ok),
        }
        let received = room.filled();
        if self.inbox.is_empty() && self.framing.is_in_head() {
            self.reading.off(); // the time limit of a head starts with its first byte
        }
        self.inbox.push(received);
        self.has_ended = received.is_empty();
        Poll::Ready(Ok(NextBytes::Pass))
    }

    /// The connection has reached a memory limit. The bytes of a request without a response wait, because valid credentials would
    /// lift the limit. A body is refused when the request reads it without such credentials.
    fn without_room(&mut self, context: &mut Context<'_>) -> Poll<NextBytes> {
        let is_refused = if self.framing.is_in_head() {
            self.connection.turn() == Turn::Client
        } else {
            self.connection.withholds_body()
        };
        if is_refused { Poll::Ready(self.refuse(Refusal::NoRoom)) } else { self.wait(context) }
    }

    /// Reads the next bytes of the client, none at the end of the stream. The end of TCP counts as the end even if TLS did not
    /// announce it: a truncated request is noticed by its length.
    fn receive(&mut self, context: &mut Context<'_>, room: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_read(context, room).map(|received| match received {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(()),
            received => received,
        })
    }

    /// Limits the wait for the next bytes of the client.
    fn wait(&mut self, context: &mut Context<'_>) -> Poll<NextBytes> {
        let is_trusted = self.connection.is_trusted();
        let (within, refusal) = if !self.framing.is_in_head() {
            // The response may come first, and end the connection.
            self.connection.wake_at_end(context.waker());
            (Deadlines::REQUEST.body_part, Some(Refusal::SlowBody))
        } else if self.connection.turn() == Turn::Service {
            self.connection.wake_at_end(context.waker()); // the time limit of the next head starts with the response
            return Poll::Pending;
        } else if self.has_parser && !is_trusted {
            return Poll::Ready(NextBytes::End); // ends the parser, not the stream
        } else if !self.inbox.is_empty() {
            (Deadlines::REQUEST.head, Some(Refusal::SlowHead))
        } else if self.has_parser {
            return Poll::Pending; // until the parser ends
        } else {
            self.connection.rest();
            (if self.is_fresh || !is_trusted { Deadlines::REQUEST.head } else { self.keep_alive }, None)
        };
        if !self.reading.rings(within, context) {
            return Poll::Pending;
        }
        Poll::Ready(match refusal {
            Some(refusal) => self.refuse(refusal),
            None => {
                self.is_cut = !is_trusted;
                NextBytes::End
            }
        })
    }

    /// Fails if the client has read its responses too slowly for too long.
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

    /// Whether there are no unexpected bytes.
    fn is_clean(&self) -> bool {
        let is_between = self.connection.turn() == Turn::Client && self.framing.is_in_head();
        is_between && self.inbox.is_empty() && !self.is_cut
    }

    /// Reads and discards bytes until the client ends the connection or its time is over.
    fn linger(&mut self, context: &mut Context<'_>) -> Poll<()> {
        self.inbox.clear();
        self.connection.rest();
        let mut room = [const { MaybeUninit::uninit() }; READ_BYTES_MAX];
        loop {
            let mut room = ReadBuf::uninit(&mut room);
            match self.receive(context, &mut room) {
                Poll::Ready(Ok(())) if !room.filled().is_empty() => {}
                Poll::Ready(_) => return Poll::Ready(()),
                Poll::Pending if self.reading.rings(UNREAD_INPUT_WAIT_MAX, context) => return Poll::Ready(()),
                Poll::Pending => return Poll::Pending,
            }
        }
    }

    /// Writes the rest of an interim response.
    fn poll_interim(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.interim.is_empty() {
            let poll = Pin::new(&mut self.io).poll_write(context, self.interim);
            let count = ready!(self.unless_stalled(poll, context))?;
            self.interim = self.interim.get(count..).unwrap_or_default();
        }
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests;
