//! A byte stream out of which only sound requests come, one after the other.

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

/// How long bytes that nobody asked for are taken behind the last answer. Where they are left lying the system resets
/// the connection, and the answer may be lost with it.
const UNREAD_INPUT_WAIT_MAX: Duration = Duration::from_secs(1);

/// The most that is read at a time, as much as a TLS record holds.
const READ_MAX: usize = 16 << 10;

const GO_AHEAD: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";

/// The error of a stream below this one whose connection may not hold more.
pub(crate) const NO_ROOM: io::ErrorKind = io::ErrorKind::QuotaExceeded;

/// Makes the whole answer to a head that is refused; without a body where the request was a HEAD.
pub(crate) type Refuse = Rc<dyn Fn(Refusal, bool) -> Vec<u8>>;

/// A stream that is read strictly.
pub(crate) struct Guarded<IO> {
    io: IO,
    inbox: Inbox,
    framing: Framing,
    connection: Rc<Connection>,
    /// How long it may be idle once it is trusted.
    keep_alive: Duration,
    body_fault: BodyFault,
    refuse: Refuse,
    /// What is left to write of an interim response; it stands before the response.
    interim: &'static [u8],
    /// The answer to a head that is refused: written behind all others, when the connection is shut down.
    farewell: Vec<u8>,
    /// No request has come yet.
    is_fresh: bool,
    /// A parser reads it: a request is at work, or was a moment ago.
    has_parser: bool,
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
    /// Something, once the request before it has its answer or asks for more of its body.
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

    /// What its requests share with it.
    pub(crate) fn connection(&self) -> Rc<Connection> {
        Rc::clone(&self.connection)
    }

    /// What is wrong with the body of its request.
    pub(crate) fn body_fault(&self) -> BodyFault {
        self.body_fault.clone()
    }

    /// Says whether a parser reads it from now on.
    pub(crate) fn set_parser(&mut self, is_there: bool) {
        self.has_parser = is_there;
    }

    /// Waits, without a parser, until the whole head of a request is there; false where the stream is to be shut down instead.
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

    /// Whether no request is at work and more may come, so that the parser may go while the stream stays.
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
            // The end of the stream waits, too: at an end the parser drops what it has not decoded yet of a body.
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

    /// Of a head that is refused nothing has passed yet, and nothing passes any more: it is answered here. Of a body
    /// whoever reads it waits for the rest, and is told that there is none.
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

    /// Takes what the client has sent, or sees that it takes too long.
    fn fill(&mut self, context: &mut Context<'_>) -> Poll<io::Result<NextBytes>> {
        let mut room = [const { MaybeUninit::uninit() }; READ_MAX];
        let mut room = ReadBuf::uninit(&mut room);
        match self.receive(context, &mut room) {
            Poll::Ready(Ok(())) => {}
            Poll::Ready(Err(error)) if error.kind() == NO_ROOM => return self.without_room(context).map(Ok),
            Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
            Poll::Pending => return self.wait(context).map(Ok),
        }
        let received = room.filled();
        if self.inbox.is_empty() && self.framing.is_in_head() {
            self.reading.off(); // the time of a head begins with its first byte
        }
        self.inbox.push(received);
        self.has_ended = received.is_empty();
        Poll::Ready(Ok(NextBytes::Pass))
    }

    /// The connection may not hold more. What a request sends that has no response yet waits: right credentials may make room.
    /// A body is refused once the request reads it without them.
    fn without_room(&mut self, context: &mut Context<'_>) -> Poll<NextBytes> {
        let is_refused = if self.framing.is_in_head() {
            self.connection.turn() == Turn::Client
        } else {
            self.connection.withholds_body()
        };
        if is_refused { Poll::Ready(self.refuse(Refusal::NoRoom)) } else { self.wait(context) }
    }

    /// Reads the client's next bytes, none at the end of the stream. TCP's end counts as such where TLS did not announce it:
    /// requests say their own length, so that one that was cut off is seen.
    fn receive(&mut self, context: &mut Context<'_>, room: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_read(context, room).map(|received| match received {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(()),
            received => received,
        })
    }

    /// The client has sent nothing more: bounds how long it may take.
    fn wait(&mut self, context: &mut Context<'_>) -> Poll<NextBytes> {
        let is_trusted = self.connection.is_trusted();
        let (within, refusal) = if !self.framing.is_in_head() {
            // The answer may come first, and be the last.
            self.connection.wake_at_end(context.waker());
            (Deadlines::REQUEST.body_part, Some(Refusal::SlowBody))
        } else if self.connection.turn() == Turn::Service {
            self.connection.wake_at_end(context.waker()); // the time of the next head begins with the answer
            return Poll::Pending;
        } else if self.has_parser && !is_trusted {
            return Poll::Ready(NextBytes::End); // of the parser, not of the stream
        } else if !self.inbox.is_empty() {
            (Deadlines::REQUEST.head, Some(Refusal::SlowHead))
        } else if self.has_parser {
            return Poll::Pending; // until the parser ends by itself
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
        self.inbox.clear();
        self.connection.rest();
        let mut room = [const { MaybeUninit::uninit() }; READ_MAX];
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

    /// Writes what is left of an interim response.
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
