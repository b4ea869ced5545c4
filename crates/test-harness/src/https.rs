//! An HTTPS client with minimal overhead, which leaves the processors to the service, and which controls every step:
//! connect, handshake, request, response.

use std::io::{ErrorKind, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Shutdown, SocketAddr, SocketAddrV4, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use rustix::net::{AddressFamily, SocketType, bind, connect, socket};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use crate::http_message::{HttpResponse, parse_responses, read_message};

const RESPONSE_TIMEOUT: Duration = Duration::from_secs(30);

/// The service's address and its trusted certificate.
#[derive(Clone)]
pub struct HttpsClient {
    address: SocketAddr,
    config: Arc<ClientConfig>,
}

/// A persistent connection.
pub struct HttpsConnection {
    stream: StreamOwned<ClientConnection, TcpStream>,
    buffer: Vec<u8>,
}

impl HttpsClient {
    /// A client that trusts only the certificate in this file, which must be valid for `localhost`. Without a file, no
    /// handshake succeeds.
    pub fn new(address: SocketAddr, certificate: Option<&Path>) -> Result<Self> {
        let mut roots = RootCertStore::empty();
        if let Some(file) = certificate {
            roots.add(CertificateDer::from_pem_file(file)?)?;
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
        let config = config.with_root_certificates(roots).with_no_client_auth();
        Ok(Self { address, config: Arc::new(config) })
    }

    /// Returns a client for another address with the same certificate.
    pub fn with_address(&self, address: SocketAddr) -> Self {
        Self { address, config: Arc::clone(&self.config) }
    }

    /// Returns a client that offers application protocols in its handshakes (ALPN, RFC 7301).
    pub fn with_protocols(&self, protocols: &[&str]) -> Self {
        let mut config = ClientConfig::clone(&self.config);
        config.alpn_protocols = protocols.iter().map(|protocol| protocol.as_bytes().to_vec()).collect();
        Self { address: self.address, config: Arc::new(config) }
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Connects and completes the handshake.
    pub fn connect(&self) -> Result<HttpsConnection> {
        self.connect_from(Ipv4Addr::LOCALHOST)
    }

    /// Connects from another local address and completes the handshake.
    pub fn connect_from(&self, address: Ipv4Addr) -> Result<HttpsConnection> {
        self.connect_with_io_timeout(address, RESPONSE_TIMEOUT)
    }

    /// Connects from a local address and completes the handshake. Each read and write may take as long as `timeout`.
    pub fn connect_with_io_timeout(&self, address: Ipv4Addr, timeout: Duration) -> Result<HttpsConnection> {
        let IpAddr::V4(host) = self.address.ip() else { bail!("only IPv4 has many addresses of loopback") };
        let bound = socket(AddressFamily::INET, SocketType::STREAM, None)?;
        bind(&bound, &SocketAddrV4::new(address, 0))?;
        connect(&bound, &SocketAddrV4::new(host, self.address.port()))?;
        let mut socket = TcpStream::from(bound);
        socket.set_nodelay(true)?;
        socket.set_read_timeout(Some(timeout))?;
        socket.set_write_timeout(Some(timeout))?;
        let name = ServerName::try_from("localhost")?;
        let mut tls = ClientConnection::new(Arc::clone(&self.config), name)?;
        while tls.is_handshaking() {
            tls.complete_io(&mut socket)?;
        }
        Ok(HttpsConnection { stream: StreamOwned::new(tls, socket), buffer: Vec::new() })
    }
}

impl HttpsConnection {
    /// Closes the sending direction.
    pub fn close_sending(&mut self) -> Result<()> {
        self.stream.conn.send_close_notify();
        self.stream.flush()?;
        self.shutdown_tcp()
    }

    /// Closes the TCP stream for sending without closing TLS, as many clients do.
    pub fn shutdown_tcp(&mut self) -> Result<()> {
        Ok(self.stream.sock.shutdown(Shutdown::Write)?)
    }

    /// Sends bytes, which may be a partial request.
    pub fn send_bytes(&mut self, bytes: &[u8]) -> Result<()> {
        self.stream.write_all(bytes)?;
        Ok(self.stream.flush()?)
    }

    /// Returns the next received bytes; empty at the end.
    pub fn receive_bytes<'a>(&mut self, buffer: &'a mut [u8]) -> Result<&'a [u8]> {
        let count = self.stream.read(buffer)?;
        Ok(buffer.get(..count).unwrap_or_default())
    }

    /// Discards received bytes. Returns `false` if the other side has closed the connection.
    pub fn discard_received(&mut self) -> Result<bool> {
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

    /// Sends a complete request and reads the complete response. Fails if the connection ends before.
    pub fn send_request(&mut self, request: &[u8]) -> Result<HttpResponse> {
        self.send_bytes(request)?;
        let message =
            read_message(&mut self.stream, &mut self.buffer)?.context("the connection was closed")?;
        HttpResponse::parse(message.head, message.body)
    }

    /// Sends a request and returns the body of the response. Fails if the status is not `status`.
    pub fn expect_status(&mut self, status: u16, request: &[u8]) -> Result<Vec<u8>> {
        let response = self.send_request(request)?;
        if response.status != status {
            bail!("status {}: {}", response.status, response.text());
        }
        Ok(response.body)
    }

    /// Sends bytes and reads all responses until the service closes the connection, which it must do cleanly.
    pub fn send_and_read_to_end(mut self, bytes: &[u8]) -> Result<Vec<HttpResponse>> {
        self.send_bytes(bytes)?;
        self.read_to_end()
    }

    /// Like [`Self::send_and_read_to_end`], but closes the TCP stream for sending after `bytes`, without closing TLS.
    pub fn send_and_shut_down(mut self, bytes: &[u8]) -> Result<Vec<HttpResponse>> {
        self.send_bytes(bytes)?;
        self.shutdown_tcp()?;
        self.read_to_end()
    }

    fn read_to_end(mut self) -> Result<Vec<HttpResponse>> {
        let mut all = Vec::new();
        let read = self.stream.read_to_end(&mut all);
        read.with_context(|| format!("after {:?}", String::from_utf8_lossy(&all)))?;
        parse_responses(&all)
    }
}
