//! A receiver of events. It sends scripted responses and records every request byte for byte.

use std::collections::VecDeque;
use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use guerdon_domain::ports::Timestamp;
use guerdon_webhooks::{Delivery, VerifyError, standard_signature, verify_now};
use serde_json::Value;

use super::openapi_conformance;

/// The longest time for which a test waits before it fails.
pub const RECEIVE_TIMEOUT: Duration = Duration::from_secs(20);
/// Larger than any request in the tests.
const REQUEST_MAX: usize = 64 * 1024;

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
    pub received_at: Instant,
}

/// Listens until it is dropped.
pub struct WebhookReceiver {
    pub port: u16,
    shared: Arc<ReceiverState>,
    arrivals: mpsc::Receiver<ReceivedRequest>,
}

struct ReceiverState {
    script: Mutex<ReplyScript>,
    changed: Condvar,
    connections: AtomicUsize,
    is_stopped: AtomicBool,
}

struct ReplyScript {
    next: VecDeque<Reply>,
    default_reply: Reply,
    is_released: bool,
}

impl WebhookReceiver {
    /// A receiver that responds with status 200.
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let script =
            ReplyScript { next: VecDeque::new(), default_reply: Reply::Status(200), is_released: false };
        let shared = Arc::new(ReceiverState {
            script: Mutex::new(script),
            changed: Condvar::new(),
            connections: AtomicUsize::new(0),
            is_stopped: AtomicBool::new(false),
        });
        let (sender, arrivals) = mpsc::channel();
        let server_state = Arc::clone(&shared);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                if server_state.is_stopped.load(Ordering::Relaxed) {
                    return;
                }
                server_state.connections.fetch_add(1, Ordering::Relaxed);
                let (state, sender) = (Arc::clone(&server_state), sender.clone());
                std::thread::spawn(move || state.serve_connection(stream.unwrap(), &sender));
            }
        });
        Self { port, shared, arrivals }
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/hook", self.port)
    }

    /// Sets the default response.
    pub fn set_default_reply(&self, usual: Reply) {
        self.shared.script.lock().unwrap().default_reply = usual;
    }

    /// Queues responses that are sent before the default response.
    pub fn queue_replies(&self, next: impl IntoIterator<Item = Reply>) {
        self.shared.script.lock().unwrap().next.extend(next);
    }

    /// Sends the responses that were held back.
    pub fn release_held_replies(&self) {
        self.shared.script.lock().unwrap().is_released = true;
        self.shared.changed.notify_all();
    }

    /// The number of connections so far.
    pub fn connection_count(&self) -> usize {
        self.shared.connections.load(Ordering::Relaxed)
    }

    /// The next request.
    pub fn next_request(&self) -> ReceivedRequest {
        self.try_next_request().expect("a request should arrive")
    }

    /// The next request, if one arrives in time.
    pub fn try_next_request(&self) -> Option<ReceivedRequest> {
        self.arrivals.recv_timeout(RECEIVE_TIMEOUT).ok()
    }

    pub fn take_requests(&self, count: usize) -> Vec<ReceivedRequest> {
        (0..count).map(|_| self.next_request()).collect()
    }

    /// The requests received so far that were not read by the test.
    pub fn unread_requests(&self) -> Vec<ReceivedRequest> {
        self.arrivals.try_iter().collect()
    }
}

impl Drop for WebhookReceiver {
    fn drop(&mut self) {
        self.shared.is_stopped.store(true, Ordering::Relaxed);
        self.release_held_replies();
        drop(TcpStream::connect(("127.0.0.1", self.port)));
    }
}

impl ReceiverState {
    fn serve_connection(&self, mut stream: TcpStream, arrivals: &Sender<ReceivedRequest>) {
        stream.set_nodelay(true).unwrap();
        while let Some((arrival, length)) = peek_request(&stream) {
            let reply = {
                let mut script = self.script.lock().unwrap();
                script.next.pop_front().unwrap_or_else(|| script.default_reply.clone())
            };
            // Closing a connection with unread bytes of the request resets it.
            let consumed = if matches!(reply, Reply::Reset) { length - 1 } else { length };
            stream.read_exact(&mut vec![0; consumed]).unwrap();
            drop(arrivals.send(arrival.clone()));
            if !self.send_reply(&reply, &mut stream, &arrival) {
                return;
            }
        }
    }

    /// Sends the reply. Returns whether the connection stays open.
    fn send_reply(&self, reply: &Reply, stream: &mut TcpStream, arrival: &ReceivedRequest) -> bool {
        match reply {
            Reply::Status(status) => write_response(stream, *status, ""),
            Reply::AfterRelease(status) => {
                let script = self.script.lock().unwrap();
                drop(self.changed.wait_while(script, |script| !script.is_released).unwrap());
                write_response(stream, *status, "")
            }
            Reply::Redirect(status, to) => write_response(stream, *status, &format!("Location: {to}\r\n")),
            Reply::Relay(port) => write_response(stream, forward_request(*port, arrival), ""),
            Reply::Bytes(bytes) => {
                drop(stream.write_all(bytes));
                drop(stream.shutdown(Shutdown::Write));
                false
            }
            Reply::Reset => false,
            Reply::Drip(bytes) => {
                let mut written = stream.write_all(bytes);
                while written.is_ok() && !self.is_stopped.load(Ordering::Relaxed) {
                    std::thread::sleep(Duration::from_millis(100)); // tidy: simulates a slow receiver
                    written = stream.write_all(b"1");
                }
                false
            }
            Reply::Endless(first, again) => write_endlessly(stream, first, again),
            Reply::SilentBody => {
                drop(stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n"));
                drop(stream.read(&mut [0]));
                false
            }
        }
    }
}

fn write_response(stream: &mut TcpStream, status: u16, headers: &str) -> bool {
    let length = if status == 204 { "" } else { "Content-Length: 0\r\n" };
    stream.write_all(format!("HTTP/1.1 {status} Said\r\n{headers}{length}\r\n").as_bytes()).is_ok()
}

fn write_endlessly(stream: &mut TcpStream, first: &[u8], again: &[u8]) -> bool {
    let mut written = stream.write_all(first);
    while written.is_ok() {
        written = stream.write_all(again);
    }
    false
}

/// The next request and its length, without consuming it. `None` if the connection ended before the request was
/// complete.
fn peek_request(stream: &TcpStream) -> Option<(ReceivedRequest, usize)> {
    let mut bytes = vec![0; REQUEST_MAX];
    loop {
        let there = stream.peek(&mut bytes).ok().filter(|length| *length > 0)?;
        if let Some(found) = parse_request(&bytes[..there]) {
            return Some(found);
        }
        std::thread::yield_now();
    }
}

fn parse_request(bytes: &[u8]) -> Option<(ReceivedRequest, usize)> {
    let end = bytes.windows(4).position(|window| window == b"\r\n\r\n")?;
    let head = std::str::from_utf8(&bytes[..end]).unwrap();
    let mut lines = head.split("\r\n");
    let line = lines.next().unwrap().to_owned();
    let headers: Vec<(String, String)> = lines
        .map(|line| line.split_once(": ").unwrap())
        .map(|(name, value)| (name.into(), value.into()))
        .collect();
    let length = headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("content-length"));
    let body = bytes.get(end + 4..end + 4 + length.unwrap().1.parse::<usize>().unwrap())?.to_vec();
    let length = end + 4 + body.len();
    Some((ReceivedRequest { line, headers, body, received_at: Instant::now() }, length))
}

/// Sends the same request to another receiver. Returns the response status, or 0 without a response.
pub fn forward_request(port: u16, arrival: &ReceivedRequest) -> u16 {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.set_read_timeout(Some(RECEIVE_TIMEOUT)).unwrap();
    let mut request = format!("{}\r\nConnection: close\r\n", arrival.line);
    for (name, value) in &arrival.headers {
        request.push_str(&format!("{name}: {value}\r\n"));
    }
    request.push_str("\r\n");
    stream.write_all(&[request.as_bytes(), &arrival.body].concat()).unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    response.get(9..12).and_then(|status| status.parse().ok()).unwrap_or(0)
}

impl ReceivedRequest {
    /// The value of a header that must occur exactly once. Names are case-insensitive (RFC 9110, section 5.1).
    pub fn header(&self, name: &str) -> &str {
        let named = self.headers.iter().filter(|header| header.0.eq_ignore_ascii_case(name));
        let values: Vec<&str> = named.map(|header| header.1.as_str()).collect();
        assert_eq!(values.len(), 1, "{name} in {:?}", self.headers);
        values[0]
    }

    pub fn set_header(&mut self, name: &str, value: &str) {
        let header = self.headers.iter_mut().find(|header| header.0.eq_ignore_ascii_case(name)).unwrap();
        value.clone_into(&mut header.1);
    }

    pub fn event_id(&self) -> &str {
        self.header("X-Service-Event-Id")
    }

    pub fn body_text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    pub fn json(&self) -> Value {
        openapi_conformance::check_event(&self.body);
        serde_json::from_slice(&self.body).unwrap()
    }

    /// The result of the published verification library.
    pub fn verify_signature(&self, url: &str, secret: &str) -> Result<(), VerifyError> {
        let delivery = Delivery {
            url,
            timestamp: self.header("X-Service-Timestamp"),
            nonce: self.header("X-Service-Nonce"),
            signature: self.header("X-Service-Signature"),
            body: &self.body,
        };
        verify_now(secret, &delivery)
    }
    /// Asserts the headers of Standard Webhooks. `secrets` are those that sign the delivery, the newest first.
    pub fn assert_standard_headers(&self, secrets: &[&str]) {
        let sent_at = Timestamp::parse(self.header("X-Service-Timestamp")).unwrap();
        let timestamp_seconds = sent_at.to_utc().unix_timestamp();
        let sign = |secret: &&str| standard_signature(secret, self.event_id(), timestamp_seconds, &self.body);
        let signatures: Vec<String> = secrets.iter().map(sign).collect();
        assert_eq!(self.header("webhook-id"), self.event_id());
        assert_eq!(self.header("webhook-timestamp"), timestamp_seconds.to_string());
        assert_eq!(self.header("webhook-signature"), signatures.join(" "));
    }
}
