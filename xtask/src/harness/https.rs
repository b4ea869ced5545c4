//! An HTTPS client with minimal overhead, so that the processors are available to the service.

use std::io::{ErrorKind, Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, SocketAddrV4, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rustix::net::{AddressFamily, SocketType, bind, connect, socket};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use super::http_message;

/// The timeout of a response.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(30);

/// The service's address and its trusted certificate.
pub(crate) struct HttpsClient {
    address: SocketAddr,
    config: Arc<ClientConfig>,
}

/// A persistent connection.
pub(crate) struct HttpsConnection {
    stream: StreamOwned<ClientConnection, TcpStream>,
    buffer: Vec<u8>,
}

/// A response.
pub(crate) struct HttpResponse {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl HttpResponse {
    /// Returns how long the response asks the client to wait before a retry.
    pub(crate) fn retry_after(&self) -> Duration {
        let seconds =
            http_message::header_value(&self.head, "retry-after").and_then(|value| value.parse().ok());
        Duration::from_secs(seconds.unwrap_or(0))
    }

    /// Whether this is a stored response to an earlier request with the same idempotency key.
    pub(crate) fn is_replayed(&self) -> bool {
        http_message::header_value(&self.head, "idempotency-replayed") == Some("true")
    }
}

impl HttpsClient {
    /// `folder` holds the certificate and the key of the server at `address`.
    pub(crate) fn new(address: SocketAddr, folder: &Path) -> Result<Self> {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_file(folder.join("certificate.pem"))?)?;
        let config = ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
        Ok(Self { address, config: Arc::new(config) })
    }

    /// Returns a client for another address with the same certificate.
    pub(crate) fn with_address(&self, address: SocketAddr) -> Self {
        Self { address, config: Arc::clone(&self.config) }
    }

    pub(crate) fn connect(&self) -> Result<HttpsConnection> {
        self.connect_from(Ipv4Addr::LOCALHOST)
    }

    /// Connects from another local address.
    pub(crate) fn connect_from(&self, address: Ipv4Addr) -> Result<HttpsConnection> {
        let IpAddr::V4(host) = self.address.ip() else { bail!("only IPv4 has many loopback addresses") };
        let bound = socket(AddressFamily::INET, SocketType::STREAM, None)?;
        bind(&bound, &SocketAddrV4::new(address, 0))?;
        connect(&bound, &SocketAddrV4::new(host, self.address.port()))?;
        let socket = TcpStream::from(bound);
        socket.set_nodelay(true)?;
        socket.set_read_timeout(Some(RESPONSE_TIMEOUT))?;
        let name = ServerName::try_from("localhost")?;
        let tls = ClientConnection::new(Arc::clone(&self.config), name)?;
        Ok(HttpsConnection { stream: StreamOwned::new(tls, socket), buffer: Vec::new() })
    }
}

impl HttpsConnection {
    /// Performs the TLS handshake, if nothing has been sent yet.
    pub(crate) fn complete_handshake(&mut self) -> Result<()> {
        while self.stream.conn.is_handshaking() {
            self.stream.conn.complete_io(&mut self.stream.sock)?;
        }
        Ok(())
    }

    /// Closes the sending direction.
    pub(crate) fn close_sending(&mut self) -> Result<()> {
        self.stream.conn.send_close_notify();
        self.stream.flush()?;
        self.shutdown_tcp()
    }

    /// Closes the TCP stream without closing TLS, as many clients do.
    pub(crate) fn shutdown_tcp(&mut self) -> Result<()> {
        Ok(self.stream.sock.shutdown(std::net::Shutdown::Write)?)
    }

    /// Sends bytes, which may be a partial request.
    pub(crate) fn send_bytes(&mut self, bytes: &[u8]) -> Result<()> {
        self.stream.write_all(bytes)?;
        Ok(self.stream.flush()?)
    }

    /// Returns the next received bytes; empty at the end.
    pub(crate) fn receive_bytes<'a>(&mut self, buffer: &'a mut [u8]) -> Result<&'a [u8]> {
        let count = self.stream.read(buffer)?;
        Ok(buffer.get(..count).unwrap_or_default())
    }

    /// Discards received bytes. Returns `false` if the other side has closed the connection.
    pub(crate) fn discard_received(&mut self) -> Result<bool> {
        self.stream.sock.set_nonblocking(true)?;
        let mut buffer = [0; 16 << 10];
        let is_open = loop {
            match self.stream.sock.read(&mut buffer) {
                Ok(0) => break false,
                Ok(_some) => {}
                Err(error) => break error.kind() == ErrorKind::WouldBlock,
            }
        };
        self.stream.sock.set_nonblocking(false)?;
        Ok(is_open)
    }

    /// Sets the timeout of the next read or write.
    pub(crate) fn set_timeout(&self, timeout: Duration) -> Result<()> {
        self.stream.sock.set_read_timeout(Some(timeout))?;
        Ok(self.stream.sock.set_write_timeout(Some(timeout))?)
    }

    /// Sends a complete request and reads the complete response.
    pub(crate) fn send_request(&mut self, request: &[u8]) -> Result<HttpResponse> {
        self.stream.write_all(request)?;
        self.stream.flush()?;
        let message = http_message::read_message(&mut self.stream, &mut self.buffer)?
            .context("the connection was closed")?;
        let status = message.head.split(' ').nth(1).and_then(|status| status.parse().ok());
        let status = status.context("a response without a status")?;
        Ok(HttpResponse { status, head: message.head.to_owned(), body: message.body.to_vec() })
    }

    /// Sends a request and returns the body of the response. Fails if the status is not `status`.
    pub(crate) fn expect_status(&mut self, status: u16, request: &[u8]) -> Result<Vec<u8>> {
        let response = self.send_request(request)?;
        if response.status != status {
            bail!("status {}: {}", response.status, String::from_utf8_lossy(&response.body));
        }
        Ok(response.body)
    }
}

/// Creates the bytes of a request from the numbers of its connection and of the request.
pub(crate) type RequestFactory<'a> = dyn Fn(usize, usize) -> Vec<u8> + Sync + 'a;

/// The result of a closed loop, in which each connection sends its next request after the response to the previous
/// one.
#[derive(Default)]
pub(crate) struct LoopResult {
    /// The durations of requests with the expected status.
    pub(crate) times: Vec<Duration>,
    pub(crate) elapsed: Duration,
    /// The number of responses, including those of the first tenth.
    pub(crate) responses: u32,
    /// The number of responses with another status.
    pub(crate) unexpected: usize,
    /// The first response with another status.
    pub(crate) first_unexpected: Option<HttpResponse>,
}

/// Sends requests over `connections` connections for `period`. The first tenth is not counted.
pub(crate) fn closed_loop(
    https: &HttpsClient,
    connections: usize,
    period: Duration,
    status: u16,
    request: &RequestFactory<'_>,
) -> Result<LoopResult> {
    let connected: Vec<_> = (0..connections).map(|_| https.connect()).collect::<Result<_>>()?;
    let start = Instant::now();
    let (counted_from, end) = (start + period / 10, start + period);
    let run_connection = |number: usize, mut connection: HttpsConnection| -> Result<LoopResult> {
        let mut result = LoopResult::default();
        for count in 0_usize.. {
            let bytes = request(number, count);
            let sent = Instant::now();
            if sent >= end {
                break;
            }
            let response = connection.send_request(&bytes)?;
            result.responses += 1;
            if response.status != status {
                result.unexpected += 1;
                result.first_unexpected.get_or_insert(response);
            } else if sent >= counted_from {
                result.times.push(sent.elapsed());
            }
        }
        Ok(result)
    };
    let mut total = std::thread::scope(|scope| -> Result<LoopResult> {
        let threads: Vec<_> = connected
            .into_iter()
            .enumerate()
            .map(|(number, connection)| scope.spawn(move || run_connection(number, connection)))
            .collect();
        let mut total = LoopResult::default();
        for thread in threads {
            let Ok(result) = thread.join() else { bail!("a thread of the client panicked") };
            let result = result?;
            total.times.extend(result.times);
            total.responses += result.responses;
            total.unexpected += result.unexpected;
            total.first_unexpected = total.first_unexpected.or(result.first_unexpected);
        }
        Ok(total)
    })?;
    total.elapsed = counted_from.elapsed();
    Ok(total)
}
