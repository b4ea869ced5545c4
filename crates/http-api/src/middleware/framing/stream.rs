//! A byte stream that yields only well-formed requests, one after the other.

mod async_io;

use std::io;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use guerdon_domain::ports::Deadlines;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::connection::{Connection, ConnectionPhase};
use super::receive_buffer::ReceiveBuffer;
use super::wait_timer::{StallDetector, WaitTimer};
use super::{FrameAction, Framing, FramingError};
use crate::request_info::{BodyFailure, BodyFault, ClientEnd};

/// How long unexpected bytes are read and discarded after the last response. If bytes remained unread, the system would
/// reset the connection, and the response might be lost.
const UNREAD_INPUT_WAIT_MAX: Duration = Duration::from_secs(1);

/// How long a connection keeps its parser after a response, if valid credentials were used. The keep-alive timer of
/// actix-web is not suitable: after a pause of the whole process, it closes connections whose next request has arrived.
pub(crate) const PARSER_KEEP_ALIVE: Duration = Duration::from_secs(1);

/// The maximum number of bytes that are read at a time: the size of a TLS record.
const READ_BYTES_MAX: usize = 16 << 10;

const CONTINUE_RESPONSE: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";

/// The error of the underlying stream when its connection has reached a memory limit.
pub(crate) const BUDGET_EXCEEDED: io::ErrorKind = io::ErrorKind::QuotaExceeded;

/// Renders the response to an invalid head from its received bytes.
pub(crate) type ErrorRenderer = Rc<dyn Fn(FramingError, &[u8]) -> Vec<u8>>;

/// A stream whose input is checked strictly.
pub(crate) struct StrictStream<IO> {
    io: IO,
    received: ReceiveBuffer,
    framing: Framing,
    connection: Rc<Connection>,
    /// How long the connection may be idle after it has become trusted.
    keep_alive: Duration,
    body_failure: BodyFailure,
    render_error: ErrorRenderer,
    /// The unwritten part of an interim response, which precedes the response.
    interim_response: &'static [u8],
    /// The response to an invalid head. It is written after all other responses, when the connection is shut down.
    final_response: Vec<u8>,
    /// Whether there has been no request yet.
    is_first_request: bool,
    /// Whether a parser reads the stream, because a request is in progress or ended a moment ago.
    has_parser: bool,
    /// Whether the client has ended its side of the connection.
    client_ended: bool,
    /// Notified when the client ends its side of the connection.
    client_end: ClientEnd,
    /// Whether no more bytes are passed on.
    stopped_reading: bool,
    /// Whether the service has ended its side of the connection.
    is_shut_down: bool,
    read_timer: WaitTimer,
    stall_detector: StallDetector,
}

/// What the parser receives next.
enum NextBytes {
    /// The approved bytes, if there are any.
    Pass,
    /// More bytes of the client are needed to decide.
    More,
    /// No bytes until the current request has its response or asks for more of its body.
    Hold,
    End,
}

impl<IO: AsyncRead + AsyncWrite + Unpin> StrictStream<IO> {
    pub(crate) fn new(
        io: IO,
        connection: Rc<Connection>,
        keep_alive: Duration,
        render_error: ErrorRenderer,
    ) -> Self {
        Self {
            io,
            received: ReceiveBuffer::default(),
            framing: Framing::new(),
            connection,
            keep_alive,
            body_failure: BodyFailure::default(),
            render_error,
            interim_response: &[],
            final_response: Vec::new(),
            is_first_request: true,
            has_parser: false,
            client_ended: false,
            client_end: ClientEnd::default(),
            stopped_reading: false,
            is_shut_down: false,
            read_timer: WaitTimer::default(),
            stall_detector: StallDetector::default(),
        }
    }

    /// The state that the stream shares with its requests.
    pub(crate) fn connection(&self) -> Rc<Connection> {
        Rc::clone(&self.connection)
    }

    /// Returns the shared cell that holds the error of the current request's body, if it has one.
    pub(crate) fn body_failure(&self) -> BodyFailure {
        self.body_failure.clone()
    }

    /// Lets requests detect that the client has closed its side of the connection.
    pub(crate) fn client_end(&self) -> ClientEnd {
        self.client_end.clone()
    }

    /// Sets whether a parser reads the stream.
    pub(crate) fn set_has_parser(&mut self, has_parser: bool) {
        self.has_parser = has_parser;
    }

    /// Waits, without a parser, for the complete head of a request. Returns false if the stream must be shut down
    /// instead.
    pub(crate) fn poll_request(&mut self, context: &mut Context<'_>) -> Poll<io::Result<bool>> {
        let mut next = NextBytes::Pass;
        loop {
            next = match next {
                NextBytes::Pass if self.received.has_approved() => return Poll::Ready(Ok(true)),
                NextBytes::Pass => self.next_bytes(),
                NextBytes::More => ready!(self.poll_receive(context))?,
                NextBytes::Hold | NextBytes::End => return Poll::Ready(Ok(false)),
            };
        }
    }

    /// Whether no request is in progress and more may follow, so that the parser may end while the stream stays open.
    pub(crate) fn is_idle(&self) -> bool {
        self.connection.phase() == ConnectionPhase::AwaitRequest
            && self.framing.is_in_head()
            && !self.stopped_reading
            && !self.client_ended
    }

    fn next_bytes(&mut self) -> NextBytes {
        let phase = self.connection.phase();
        if self.stopped_reading || phase == ConnectionPhase::Finished {
            return NextBytes::End;
        }
        let was_in_head = self.framing.is_in_head();
        let mut pending = self.received.pending_bytes();
        if was_in_head {
            // The end of the stream must be held back, too. Otherwise the parser would discard the part of a body that
            // it has not decoded yet.
            if phase == ConnectionPhase::AwaitResponse && (self.client_ended || !pending.is_empty()) {
                return NextBytes::Hold;
            }
        } else if !pending.is_empty() {
            self.connection.record_body_start();
            let credit = self.connection.body_credit();
            if credit == 0 {
                return NextBytes::Hold;
            }
            pending = pending.get(..credit).unwrap_or(pending);
        }
        match self.framing.examine_bytes(pending) {
            Ok(FrameAction::Head(count, head)) => {
                self.received.approve_with_cuts(count, &head.cuts);
                self.is_first_request = false;
                self.connection.begin_request(head.expects && !self.framing.is_in_head());
                self.connection.pass_head(count);
                self.read_timer.stop_timer();
                NextBytes::Pass
            }
            Ok(FrameAction::Pass(count)) => {
                self.received.approve_bytes(count);
                self.connection.pass_body(count, self.received.pending_bytes().len() - count);
                if self.framing.is_in_head() {
                    self.read_timer.stop_timer();
                }
                NextBytes::Pass
            }
            Ok(FrameAction::Skip(count)) => {
                self.received.skip_bytes(count);
                NextBytes::Pass
            }
            Ok(FrameAction::More) if !self.client_ended => NextBytes::More,
            Ok(FrameAction::More) if was_in_head && self.received.is_empty() => NextBytes::End,
            Ok(FrameAction::More) => self.refuse_request(FramingError::Incomplete),
            Err(framing_error) => self.refuse_request(framing_error),
        }
    }

    /// Ends the stream for the parser. No part of a refused head was passed on, so the response to it is prepared here.
    /// If a body is refused, the request that reads the body finds the error in `body_failure`.
    fn refuse_request(&mut self, framing_error: FramingError) -> NextBytes {
        self.read_timer.stop_timer();
        self.stopped_reading = true;
        if self.framing.is_in_head() {
            self.final_response = (self.render_error)(framing_error, self.received.pending_bytes());
        } else {
            self.body_failure.set_fault(BodyFault {
                reason: framing_error.message(),
                is_temporary: framing_error.is_temporary(),
                is_incomplete: framing_error.is_incomplete_body(),
            });
        }
        NextBytes::End
    }

    /// Reads what the client has sent, or checks whether the client takes too long.
    fn poll_receive(&mut self, context: &mut Context<'_>) -> Poll<io::Result<NextBytes>> {
        let mut buffer = [const { MaybeUninit::uninit() }; READ_BYTES_MAX];
        let mut buffer = ReadBuf::uninit(&mut buffer);
        match self.poll_io(context, &mut buffer) {
            Poll::Ready(Ok(())) => {}
            Poll::Ready(Err(error)) if error.kind() == BUDGET_EXCEEDED => {
                return self.poll_without_budget(context).map(Ok);
            }
            Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
            Poll::Pending => return self.poll_timeout(context).map(Ok),
        }
        let received = buffer.filled();
        if self.received.is_empty() && self.framing.is_in_head() {
            self.read_timer.stop_timer(); // the time limit of a head starts with its first byte
        }
        self.received.push_bytes(received);
        self.client_ended = received.is_empty();
        if self.client_ended {
            self.client_end.record_end();
        }
        Poll::Ready(Ok(NextBytes::Pass))
    }

    /// Decides what to do when the connection has reached a memory limit. While a request is being processed, further
    /// bytes wait, because valid credentials would lift the limit. If the request reads its body without such
    /// credentials, the body is refused.
    fn poll_without_budget(&mut self, context: &mut Context<'_>) -> Poll<NextBytes> {
        let is_refused = if self.framing.is_in_head() {
            self.connection.phase() == ConnectionPhase::AwaitRequest
        } else {
            self.connection.withhold_body()
        };
        if is_refused {
            Poll::Ready(self.refuse_request(FramingError::BudgetExceeded))
        } else {
            self.poll_timeout(context)
        }
    }

    /// Reads the next bytes of the client, or none at the end of the stream. If TCP ends without a TLS close
    /// notification, the stream counts as ended: a truncated request is recognised by its length.
    fn poll_io(&mut self, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_read(context, buffer).map(|received| match received {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(()),
            received => received,
        })
    }

    /// Limits the wait for the next bytes of the client.
    fn poll_timeout(&mut self, context: &mut Context<'_>) -> Poll<NextBytes> {
        let is_trusted = self.connection.is_trusted();
        let (timeout, framing_error) = if !self.framing.is_in_head() {
            // The response may be sent before the rest of the body arrives, and may end the connection.
            self.connection.wake_on_response(context.waker());
            (Deadlines::BODY, Some(FramingError::SlowBody))
        } else if self.connection.phase() == ConnectionPhase::AwaitResponse {
            // The time limit of the next head starts with the response.
            self.connection.wake_on_response(context.waker());
            return Poll::Pending;
        } else if self.has_parser && !is_trusted {
            return Poll::Ready(NextBytes::End); // ends the parser, not the stream
        } else if !self.received.is_empty() {
            (Deadlines::HEAD, Some(FramingError::SlowHead))
        } else if self.has_parser {
            if !self.read_timer.has_elapsed(PARSER_KEEP_ALIVE, context) {
                return Poll::Pending;
            }
            self.read_timer.stop_timer();
            return Poll::Ready(NextBytes::End); // ends the parser, not the stream
        } else {
            self.connection.clear_received();
            (if self.is_first_request || !is_trusted { Deadlines::HEAD } else { self.keep_alive }, None)
        };
        if !self.read_timer.has_elapsed(timeout, context) {
            return Poll::Pending;
        }
        Poll::Ready(match framing_error {
            Some(framing_error) => self.refuse_request(framing_error),
            None => {
                self.stopped_reading = !is_trusted;
                NextBytes::End
            }
        })
    }

    /// Fails if the client has read its responses too slowly for too long.
    fn fail_if_stalled<T>(
        &mut self,
        poll: Poll<io::Result<T>>,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<T>> {
        if poll.is_pending() && self.stall_detector.is_stalled(context) {
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        poll
    }

    /// Whether the connection is between two requests and has no received bytes left.
    fn is_clean(&self) -> bool {
        let is_between =
            self.connection.phase() == ConnectionPhase::AwaitRequest && self.framing.is_in_head();
        is_between && self.received.is_empty() && !self.stopped_reading
    }

    /// Reads and discards bytes until the client ends the connection or the time limit passes.
    fn poll_drain(&mut self, context: &mut Context<'_>) -> Poll<()> {
        self.received.discard_all();
        self.connection.clear_received();
        let mut buffer = [const { MaybeUninit::uninit() }; READ_BYTES_MAX];
        loop {
            let mut buffer = ReadBuf::uninit(&mut buffer);
            match self.poll_io(context, &mut buffer) {
                Poll::Ready(Ok(())) if !buffer.filled().is_empty() => {}
                Poll::Ready(_) => return Poll::Ready(()),
                Poll::Pending if self.read_timer.has_elapsed(UNREAD_INPUT_WAIT_MAX, context) => {
                    return Poll::Ready(());
                }
                Poll::Pending => return Poll::Pending,
            }
        }
    }

    /// Writes the rest of an interim response.
    fn poll_interim(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.interim_response.is_empty() {
            let poll = Pin::new(&mut self.io).poll_write(context, self.interim_response);
            let count = ready!(self.fail_if_stalled(poll, context))?;
            self.interim_response = self.interim_response.get(count..).unwrap_or_default();
        }
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests;
