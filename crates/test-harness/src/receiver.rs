//! A receiver of events. It sends scripted responses and records every request byte for byte.

use std::collections::VecDeque;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use rustix::net::sockopt::set_socket_linger;

use crate::http_message::{HttpResponse, Message, read_message};

/// The longest time for which [`WebhookReceiver::try_next_request`] waits.
pub const RECEIVE_TIMEOUT: Duration = Duration::from_secs(20);
/// The size of a thread's stack. It is small, because there may be hundreds of connections.
const STACK_BYTES: usize = 256 * 1024;

/// The response to a request.
#[derive(Clone, Debug)]
pub enum Reply {
    Status(u16),
    /// A status that is sent after the test has called `release_held_replies`.
    AfterRelease(u16),
    /// A status and a Location.
    Redirect(u16, String),
    /// Raw bytes, after which the connection is closed.
    Bytes(&'static [u8]),
    /// A reset of the connection.
    Reset,
    /// The first bytes, followed by the rest one byte at a time.
    Drip(&'static [u8]),
    /// The first bytes, followed by the others repeatedly until the peer stops reading.
    Endless(&'static [u8], &'static [u8]),
    /// Status 200 with a declared body that is never sent.
    SilentBody,
    /// The response of the receiver at this port, to which the request is forwarded.
    Relay(u16),
}

/// A request as it was received.
#[derive(Clone, Debug)]
pub struct ReceivedRequest {
    pub line: String,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
    /// When its first byte was read.
    pub received_at: Instant,
}

/// Listens until it is dropped, with a thread per connection.
pub struct WebhookReceiver {
    pub port: u16,
    shared: Arc<Shared>,
    listening: Option<JoinHandle<()>>,
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    next: VecDeque<Reply>,
    default_reply: Reply,
    is_released: bool,
    is_stopped: bool,
    connections: usize,
    unread: VecDeque<ReceivedRequest>,
}

impl WebhookReceiver {
    /// A receiver that responds with status 200.
    pub fn start() -> Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let port = listener.local_addr()?.port();
        let state = State {
            next: VecDeque::new(),
            default_reply: Reply::Status(200),
            is_released: false,
            is_stopped: false,
            connections: 0,
            unread: VecDeque::new(),
        };
        let shared = Arc::new(Shared { state: Mutex::new(state), changed: Condvar::new() });
        let accepting = Arc::clone(&shared);
        let listening = spawn_thread(move || accept_connections(&listener, &accepting))?;
        Ok(Self { port, shared, listening: Some(listening) })
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/hook", self.port)
    }

    /// Like [`Self::url`], with a host name that the service must resolve.
    pub fn named_url(&self) -> String {
        format!("http://localhost:{}/hook", self.port)
    }

    /// Sets the default response.
    pub fn set_default_reply(&self, reply: Reply) {
        self.shared.lock().default_reply = reply;
    }

    /// Queues responses that are sent before the default response.
    pub fn queue_replies(&self, next: impl IntoIterator<Item = Reply>) {
        self.shared.lock().next.extend(next);
    }

    /// Sends the responses that were held back.
    pub fn release_held_replies(&self) {
        self.shared.lock().is_released = true;
        self.shared.changed.notify_all();
    }

    /// Returns the number of connections so far.
    pub fn connection_count(&self) -> usize {
        self.shared.lock().connections
    }

    /// Returns the next request, which must arrive in time.
    #[expect(clippy::expect_used, reason = "a test fails by panicking")]
    pub fn next_request(&self) -> ReceivedRequest {
        self.try_next_request().expect("a request should arrive")
    }

    /// Returns the next request, if one arrives in time.
    pub fn try_next_request(&self) -> Option<ReceivedRequest> {
        self.shared.wait_while(RECEIVE_TIMEOUT, |state| state.unread.is_empty()).unread.pop_front()
    }

    pub fn take_requests(&self, count: usize) -> Vec<ReceivedRequest> {
        (0..count).map(|_| self.next_request()).collect()
    }

    /// Returns the requests received so far that were not returned before.
    pub fn unread_requests(&self) -> Vec<ReceivedRequest> {
        self.shared.lock().unread.drain(..).collect()
    }

    /// Waits until this many requests are unread.
    pub fn wait_for(&self, count: usize, limit: Duration) -> Result<()> {
        let received = self.shared.wait_while(limit, |state| state.unread.len() < count).unread.len();
        ensure!(received >= count, "{received} of {count} events arrived in {} s", limit.as_secs());
        Ok(())
    }
}

impl Drop for WebhookReceiver {
    fn drop(&mut self) {
        self.shared.lock().is_stopped = true;
        self.release_held_replies();
        // Wakes the listener. The threads of connections end when the service closes them.
        let is_woken = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).is_ok();
        if let Some(listening) = self.listening.take().filter(|_| is_woken) {
            drop(listening.join());
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait_while(&self, limit: Duration, condition: impl Fn(&State) -> bool) -> MutexGuard<'_, State> {
        let waited = self.changed.wait_timeout_while(self.lock(), limit, |state| condition(state));
        waited.unwrap_or_else(PoisonError::into_inner).0
    }

    /// Serves a connection until it ends, cleanly or not.
    fn serve_connection(&self, mut stream: TcpStream) -> Result<()> {
        stream.set_nodelay(true)?;
        let mut buffer = Vec::new();
        while let Some(message) = read_message(&mut stream, &mut buffer)? {
            let request = ReceivedRequest::parse(&message)?;
            let reply = {
                let mut state = self.lock();
                state.unread.push_back(request.clone());
                state.next.pop_front().unwrap_or_else(|| state.default_reply.clone())
            };
            self.changed.notify_all();
            if !self.send_reply(&reply, &mut stream, &request)? {
                break;
            }
        }
        Ok(())
    }

    /// Sends the reply. Returns whether the connection stays open.
    fn send_reply(&self, reply: &Reply, stream: &mut TcpStream, request: &ReceivedRequest) -> Result<bool> {
        match reply {
            Reply::Status(status) => write_response(stream, *status, "")?,
            Reply::AfterRelease(status) => {
                let unlimited = Duration::from_secs(u64::from(u32::MAX));
                drop(self.wait_while(unlimited, |state| !state.is_released));
                write_response(stream, *status, "")?;
            }
            Reply::Redirect(status, to) => write_response(stream, *status, &format!("Location: {to}\r\n"))?,
            Reply::Relay(port) => write_response(stream, forward_request(*port, request), "")?,
            Reply::Bytes(bytes) => {
                stream.write_all(bytes)?;
                stream.shutdown(Shutdown::Write)?;
                return Ok(false);
            }
            Reply::Reset => {
                set_socket_linger(&*stream, Some(Duration::ZERO))?; // closing the socket then resets the connection
                return Ok(false);
            }
            Reply::Drip(bytes) => {
                stream.write_all(bytes)?;
                while !self.lock().is_stopped {
                    std::thread::sleep(Duration::from_millis(100)); // tidy: simulates a slow receiver
                    stream.write_all(b"1")?;
                }
                return Ok(false);
            }
            Reply::Endless(first, again) => {
                stream.write_all(first)?;
                loop {
                    stream.write_all(again)?;
                }
            }
            Reply::SilentBody => {
                stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n")?;
                let _until_closed = stream.read(&mut [0])?;
                return Ok(false);
            }
        }
        Ok(true)
    }
}

fn accept_connections(listener: &TcpListener, shared: &Arc<Shared>) {
    for stream in listener.incoming().flatten() {
        {
            let mut state = shared.lock();
            if state.is_stopped {
                return;
            }
            state.connections += 1;
        }
        let shared = Arc::clone(shared);
        // Errors are expected: the service closes connections, and replies break them.
        if let Err(error) = spawn_thread(move || drop(shared.serve_connection(stream))) {
            eprintln!("a receiver cannot accept a connection: {error}");
        }
    }
}

fn write_response(stream: &mut TcpStream, status: u16, headers: &str) -> Result<()> {
    let length = if status == 204 { "" } else { "Content-Length: 0\r\n" };
    Ok(stream.write_all(format!("HTTP/1.1 {status} Said\r\n{headers}{length}\r\n").as_bytes())?)
}

/// Sends the same request to another receiver. Returns the response status, or 0 without a response.
pub fn forward_request(port: u16, request: &ReceivedRequest) -> u16 {
    request.send_to(port).unwrap_or(0)
}

fn spawn_thread(work: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>> {
    Ok(std::thread::Builder::new().name("receiver".to_owned()).stack_size(STACK_BYTES).spawn(work)?)
}

impl ReceivedRequest {
    fn parse(message: &Message<'_>) -> Result<Self> {
        let mut lines = message.head.trim_end().split("\r\n");
        let line = lines.next().unwrap_or_default().to_owned();
        let split = |line: &str| {
            let (name, value) = line.split_once(": ").with_context(|| format!("no header: {line:?}"))?;
            Ok((name.to_owned(), value.to_owned()))
        };
        let headers = lines.map(split).collect::<Result<_>>()?;
        Ok(Self { line, headers, body: message.body.to_vec(), received_at: message.first_byte })
    }

    fn send_to(&self, port: u16) -> Result<u16> {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
        stream.set_read_timeout(Some(RECEIVE_TIMEOUT))?;
        let mut head = format!("{}\r\nConnection: close\r\n", self.line);
        head.extend(self.headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")));
        head.push_str("\r\n");
        stream.write_all(&[head.as_bytes(), &self.body].concat())?;
        let mut buffer = Vec::new();
        let response = read_message(&mut stream, &mut buffer)?.context("no response")?;
        Ok(HttpResponse::parse(response.head, response.body)?.status)
    }

    /// Returns the value of a header that must occur exactly once. Names are case-insensitive (RFC 9110, section 5.1).
    #[expect(clippy::panic, reason = "a test fails by panicking")]
    pub fn header(&self, name: &str) -> &str {
        let mut named = self.headers.iter().filter(|header| header.0.eq_ignore_ascii_case(name));
        match (named.next(), named.next()) {
            (Some((_, value)), None) => value,
            _ => panic!("{name} does not occur once in {:?}", self.headers),
        }
    }

    pub fn set_header(&mut self, name: &str, value: &str) {
        for header in self.headers.iter_mut().filter(|header| header.0.eq_ignore_ascii_case(name)) {
            value.clone_into(&mut header.1);
        }
    }

    pub fn event_id(&self) -> &str {
        self.header("X-Service-Event-Id")
    }

    /// Returns the body; empty if it is not UTF-8.
    pub fn body_text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Reply, WebhookReceiver, forward_request};

    #[test]
    fn requests_are_recorded_and_answered_as_scripted() {
        let (receiver, copy) = (WebhookReceiver::start().unwrap(), WebhookReceiver::start().unwrap());
        receiver.queue_replies([Reply::Status(503), Reply::Reset, Reply::Relay(copy.port)]);
        let agent: ureq::Agent =
            ureq::Agent::config_builder().http_status_as_error(false).proxy(None).build().into();
        let send = || Some(agent.post(receiver.url()).send("hello").ok()?.status().as_u16());
        assert_eq!([send(), send(), send(), send()], [Some(503), None, Some(200), Some(200)]);
        receiver.wait_for(4, Duration::ZERO).unwrap();
        let first = receiver.next_request();
        assert_eq!((first.line.as_str(), first.body_text()), ("POST /hook HTTP/1.1", "hello"));
        assert_eq!((first.header("Content-Length"), receiver.unread_requests().len()), ("5", 3));
        assert_eq!((copy.unread_requests().len(), receiver.connection_count() > 1), (1, true));
        drop(copy);
        assert_eq!(forward_request(receiver.port, &first), 200);
    }
}
