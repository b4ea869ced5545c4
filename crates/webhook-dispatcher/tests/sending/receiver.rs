//! Receivers with scripted behaviour.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver as Requests, Sender, channel};
use std::thread;

/// A request as it was received.
#[derive(Debug, Clone)]
pub(super) struct ReceivedRequest {
    pub(super) line: String,
    /// Header names in their original case.
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
}

impl ReceivedRequest {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }
}

/// Reads one request. `None` if the peer closed the connection.
pub(super) fn read_request(stream: &mut impl Read) -> Option<ReceivedRequest> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).ok()?;
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).unwrap();
    let mut lines = head.trim_end().split("\r\n");
    let line = lines.next().unwrap().to_owned();
    let headers: Vec<_> = lines
        .map(|line| line.split_once(": ").unwrap())
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    let length = headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("content-length"));
    let mut body = vec![0; length.map_or(0, |(_, value)| value.parse().unwrap())];
    stream.read_exact(&mut body).ok()?;
    Some(ReceivedRequest { line, headers, body })
}

/// Accepts connections indefinitely and handles each in its own thread.
pub(super) struct Receiver {
    pub(super) address: SocketAddr,
    pub(super) requests: Requests<ReceivedRequest>,
    connections: Arc<AtomicUsize>,
}

impl Receiver {
    /// Reads each request and calls `respond` to write to the connection, which stays open.
    pub(super) fn responding_with(
        respond: impl Fn(&mut TcpStream) -> io::Result<()> + Send + Sync + 'static,
    ) -> Self {
        Self::bind_at((Ipv4Addr::LOCALHOST, 0).into(), respond)
    }

    /// Like `responding_with`, at a given address.
    pub(super) fn bind_at(
        address: SocketAddr,
        respond: impl Fn(&mut TcpStream) -> io::Result<()> + Send + Sync + 'static,
    ) -> Self {
        Self::with_handler(address, move |mut stream, requests| {
            while let Some(request) = read_request(&mut stream) {
                requests.send(request).unwrap_or_default();
                if respond(&mut stream).is_err() {
                    return;
                }
            }
        })
    }

    /// Passes each accepted connection to `handle`.
    pub(super) fn with_handler(
        address: SocketAddr,
        handle: impl Fn(TcpStream, &Sender<ReceivedRequest>) + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind(address).unwrap();
        let address = listener.local_addr().unwrap();
        let (send, requests) = channel();
        let (connections, handle) = (Arc::<AtomicUsize>::default(), Arc::new(handle));
        let counted = Arc::clone(&connections);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                counted.fetch_add(1, Ordering::SeqCst);
                let (handle, send) = (Arc::clone(&handle), send.clone());
                thread::spawn(move || handle(stream, &send));
            }
        });
        Self { address, requests, connections }
    }

    /// Responds to every request with these bytes.
    pub(super) fn with_response(respond: impl Into<Vec<u8>>) -> Self {
        let respond = respond.into();
        Self::responding_with(move |stream| stream.write_all(&respond))
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}/hook", self.address)
    }

    /// The number of connections so far. Tests read a request from a connection before they count it.
    pub(super) fn connection_count(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

/// A port that must not receive a connection.
pub(super) struct ForbiddenPort(TcpListener);

impl ForbiddenPort {
    pub(super) fn new() -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        listener.set_nonblocking(true).unwrap();
        Self(listener)
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.0.local_addr().unwrap()
    }

    /// The kernel completes connections before the program accepts them, so every connection attempt is visible here.
    pub(super) fn assert_untouched(&self) {
        let accepted = self.0.accept();
        assert_eq!(accepted.unwrap_err().kind(), io::ErrorKind::WouldBlock, "a connection was made");
    }
}

/// Blocks until the other side closes.
pub(super) fn wait_for_close(stream: &mut impl Read) {
    let mut buffer = [0; 1024];
    while matches!(stream.read(&mut buffer), Ok(1..)) {}
}

/// Writes the same bytes repeatedly until the other side closes.
pub(super) fn write_endlessly(stream: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
    loop {
        stream.write_all(bytes)?;
    }
}
