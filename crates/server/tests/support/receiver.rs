//! A receiver of events with scripted responses that records every request byte for byte.

use std::collections::VecDeque;
use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use guerdon_webhooks::{Delivery, VerifyError, verify_now};
use serde_json::Value;

use super::conformity;

/// The longest wait of a test. Afterwards it fails.
pub const PATIENCE: Duration = Duration::from_secs(20);
/// Larger than any request in the tests.
const REQUEST_MAX: usize = 64 * 1024;

/// The response to a request.
#[derive(Clone, Debug)]
pub enum Reply {
    Status(u16),
    /// A status that is sent after the test has called `release`.
    Held(u16),
    /// A status and a Location.
    Redirect(u16, String),
    /// Raw bytes, after which the connection is closed.
    Bytes(&'static [u8]),
    /// The connection is reset.
    Reset,
    /// The first bytes, followed by the rest one byte at a time.
    Drip(&'static [u8]),
    /// The first bytes, followed by the others repeatedly until the peer stops reading.
    Endless(&'static [u8], &'static [u8]),
    /// Status 200 with a declared body that is never sent.
    SilentBody,
    /// The response of the receiver at this port.
    Relay(u16),
}

/// A request as it was received.
#[derive(Clone, Debug)]
pub struct Arrival {
    pub line: String,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
    pub at: Instant,
}

/// Listens until it is dropped.
pub struct Receiver {
    pub port: u16,
    shared: Arc<Shared>,
    arrivals: mpsc::Receiver<Arrival>,
}

struct Shared {
    script: Mutex<Script>,
    changed: Condvar,
    connections: AtomicUsize,
    over: AtomicBool,
}

struct Script {
    next: VecDeque<Reply>,
    usual: Reply,
    released: bool,
}

impl Receiver {
    /// A receiver that responds with status 200.
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let script = Script { next: VecDeque::new(), usual: Reply::Status(200), released: false };
        let shared = Arc::new(Shared {
            script: Mutex::new(script),
            changed: Condvar::new(),
            connections: AtomicUsize::new(0),
            over: AtomicBool::new(false),
        });
        let (sender, arrivals) = mpsc::channel();
        let all = Arc::clone(&shared);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                if all.over.load(Ordering::Relaxed) {
                    return;
                }
                all.connections.fetch_add(1, Ordering::Relaxed);
                let (one, sender) = (Arc::clone(&all), sender.clone());
                std::thread::spawn(move || one.serve(stream.unwrap(), &sender));
            }
        });
        Self { port, shared, arrivals }
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/hook", self.port)
    }

    /// Sets the default response.
    pub fn answer(&self, usual: Reply) {
        self.shared.script.lock().unwrap().usual = usual;
    }

    /// Queues responses that are sent before the default response.
    pub fn script(&self, next: impl IntoIterator<Item = Reply>) {
        self.shared.script.lock().unwrap().next.extend(next);
    }

    /// Sends the responses that are held.
    pub fn release(&self) {
        self.shared.script.lock().unwrap().released = true;
        self.shared.changed.notify_all();
    }

    /// The number of connections so far.
    pub fn connections(&self) -> usize {
        self.shared.connections.load(Ordering::Relaxed)
    }

    /// The next request.
    pub fn next(&self) -> Arrival {
        self.came().expect("a request should arrive")
    }

    /// The next request, if one arrives in time.
    pub fn came(&self) -> Option<Arrival> {
        self.arrivals.recv_timeout(PATIENCE).ok()
    }

    pub fn take(&self, count: usize) -> Vec<Arrival> {
        (0..count).map(|_| self.next()).collect()
    }

    /// The requests received so far that were not read by the test.
    pub fn so_far(&self) -> Vec<Arrival> {
        self.arrivals.try_iter().collect()
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.shared.over.store(true, Ordering::Relaxed);
        self.release();
        drop(TcpStream::connect(("127.0.0.1", self.port)));
    }
}

impl Shared {
    fn serve(&self, mut stream: TcpStream, arrivals: &Sender<Arrival>) {
        stream.set_nodelay(true).unwrap();
        while let Some((arrival, length)) = peek(&stream) {
            let reply = {
                let mut script = self.script.lock().unwrap();
                script.next.pop_front().unwrap_or_else(|| script.usual.clone())
            };
            // Closing a connection with unread bytes of the request resets it.
            let consumed = if matches!(reply, Reply::Reset) { length - 1 } else { length };
            stream.read_exact(&mut vec![0; consumed]).unwrap();
            drop(arrivals.send(arrival.clone()));
            if !self.perform(&reply, &mut stream, &arrival) {
                return;
            }
        }
    }

    /// Sends the reply. Returns whether the connection stays open.
    fn perform(&self, reply: &Reply, stream: &mut TcpStream, arrival: &Arrival) -> bool {
        match reply {
            Reply::Status(status) => say(stream, *status, ""),
            Reply::Held(status) => {
                let script = self.script.lock().unwrap();
                drop(self.changed.wait_while(script, |script| !script.released).unwrap());
                say(stream, *status, "")
            }
            Reply::Redirect(status, to) => say(stream, *status, &format!("Location: {to}\r\n")),
            Reply::Relay(port) => say(stream, forward(*port, arrival), ""),
            Reply::Bytes(bytes) => {
                drop(stream.write_all(bytes));
                drop(stream.shutdown(Shutdown::Write));
                false
            }
            Reply::Reset => false,
            Reply::Drip(bytes) => {
                let mut written = stream.write_all(bytes);
                while written.is_ok() && !self.over.load(Ordering::Relaxed) {
                    std::thread::sleep(Duration::from_millis(100)); // tidy: simulates a slow receiver
                    written = stream.write_all(b"1");
                }
                false
            }
            Reply::Endless(first, again) => forever(stream, first, again),
            Reply::SilentBody => {
                drop(stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n"));
                drop(stream.read(&mut [0]));
                false
            }
        }
    }
}

fn say(stream: &mut TcpStream, status: u16, headers: &str) -> bool {
    let length = if status == 204 { "" } else { "Content-Length: 0\r\n" };
    stream.write_all(format!("HTTP/1.1 {status} Said\r\n{headers}{length}\r\n").as_bytes()).is_ok()
}

fn forever(stream: &mut TcpStream, first: &[u8], again: &[u8]) -> bool {
    let mut written = stream.write_all(first);
    while written.is_ok() {
        written = stream.write_all(again);
    }
    false
}

/// The next request and its length, without consuming it. `None` if the connection ended before the request was
/// complete.
fn peek(stream: &TcpStream) -> Option<(Arrival, usize)> {
    let mut bytes = vec![0; REQUEST_MAX];
    loop {
        let there = stream.peek(&mut bytes).ok().filter(|length| *length > 0)?;
        if let Some(found) = whole(&bytes[..there]) {
            return Some(found);
        }
        std::thread::yield_now();
    }
}

fn whole(bytes: &[u8]) -> Option<(Arrival, usize)> {
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
    Some((Arrival { line, headers, body, at: Instant::now() }, length))
}

/// Sends the same request to another receiver. Returns the response status, or 0 without a response.
pub fn forward(port: u16, arrival: &Arrival) -> u16 {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut request = format!("{}\r\nConnection: close\r\n", arrival.line);
    for (name, value) in &arrival.headers {
        request.push_str(&format!("{name}: {value}\r\n"));
    }
    request.push_str("\r\n");
    stream.write_all(&[request.as_bytes(), &arrival.body].concat()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer.get(9..12).and_then(|status| status.parse().ok()).unwrap_or(0)
}

impl Arrival {
    /// The value of a header that must occur exactly once. Names are case-insensitive (RFC 9110, section 5.1).
    pub fn header(&self, name: &str) -> &str {
        let named = self.headers.iter().filter(|header| header.0.eq_ignore_ascii_case(name));
        let found: Vec<&str> = named.map(|header| header.1.as_str()).collect();
        assert_eq!(found.len(), 1, "{name} in {:?}", self.headers);
        found[0]
    }

    pub fn set(&mut self, name: &str, value: &str) {
        let header = self.headers.iter_mut().find(|header| header.0.eq_ignore_ascii_case(name)).unwrap();
        value.clone_into(&mut header.1);
    }

    pub fn event_id(&self) -> &str {
        self.header("X-Service-Event-Id")
    }

    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    pub fn json(&self) -> Value {
        conformity::check_event(&self.body);
        serde_json::from_slice(&self.body).unwrap()
    }

    /// The verdict of the published verification library.
    pub fn verified(&self, url: &str, secret: &str) -> Result<(), VerifyError> {
        let delivery = Delivery {
            url,
            timestamp: self.header("X-Service-Timestamp"),
            nonce: self.header("X-Service-Nonce"),
            signature: self.header("X-Service-Signature"),
            body: &self.body,
        };
        verify_now(secret, &delivery)
    }
}
