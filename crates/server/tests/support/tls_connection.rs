//! A connection that allows tests to control every step: connect, handshake, request, response.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, Shutdown, SocketAddrV4, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rustix::net::{AddressFamily, SocketType, bind, connect, socket};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use super::service::{ServiceProcess, TestService};

/// A TLS connection to the service.
pub struct TlsConnection(StreamOwned<ClientConnection, TcpStream>);

/// The configuration that a client needs to connect.
pub struct TlsConnector {
    config: Arc<ClientConfig>,
    address: String,
}

impl TlsConnector {
    pub fn new(service: &TestService) -> Self {
        Self::with_certificate(service, &service.data_dir.path().join("tls/certificate.pem"))
    }

    pub fn with_certificate(service: &TestService, certificate: &Path) -> Self {
        Self::for_process(&service.running, certificate)
    }

    /// A connector for one of several processes.
    pub fn for_process(running: &ServiceProcess, certificate: &Path) -> Self {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_file(certificate).unwrap()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config =
            ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
        let config = config.with_root_certificates(roots).with_no_client_auth();
        let address = running.api_url.split("://").nth(1).unwrap().to_owned();
        Self { config: Arc::new(config), address }
    }

    /// Connects and completes the TLS handshake. `None` if the service no longer accepts connections.
    pub fn connect_tls(&self) -> Option<TlsConnection> {
        self.complete_handshake(TcpStream::connect(&self.address).ok()?)
    }

    /// Like `connect_tls`, from another address of this machine.
    pub fn connect_tls_from(&self, address: Ipv4Addr) -> Option<TlsConnection> {
        let socket = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
        bind(&socket, &SocketAddrV4::new(address, 0)).unwrap();
        connect(&socket, &self.address.parse::<SocketAddrV4>().unwrap()).ok()?;
        self.complete_handshake(TcpStream::from(socket))
    }

    fn complete_handshake(&self, mut stream: TcpStream) -> Option<TlsConnection> {
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let name = ServerName::try_from("127.0.0.1").unwrap();
        let mut connection = ClientConnection::new(Arc::clone(&self.config), name).unwrap();
        while connection.is_handshaking() {
            connection.complete_io(&mut stream).ok()?;
        }
        Some(TlsConnection(StreamOwned::new(connection, stream)))
    }
}

impl TlsConnection {
    /// Sends bytes and reads one response, head and body. Fails if the connection ends before the response is
    /// complete.
    pub fn send_and_read(&mut self, request: &[u8]) -> std::io::Result<String> {
        self.0.write_all(request)?;
        self.0.flush()?;
        let mut response = Vec::new();
        let mut some = [0; 4096];
        while !is_complete(&response) {
            match self.0.read(&mut some)? {
                0 => return Err(std::io::Error::new(std::io::ErrorKind::UnexpectedEof, "cut")),
                read => response.extend_from_slice(&some[..read]),
            }
        }
        Ok(String::from_utf8(response).unwrap())
    }

    /// Sends bytes and reads all responses until the service closes the connection cleanly.
    pub fn send_and_read_to_end(mut self, bytes: &[u8]) -> Vec<RawResponse> {
        self.send_bytes(bytes);
        self.read_to_end()
    }

    /// Sends bytes, closes the TCP stream for writing without a TLS close notification, and reads all responses until
    /// the service closes the connection cleanly.
    pub fn send_and_shut_down(mut self, bytes: &[u8]) -> Vec<RawResponse> {
        self.send_bytes(bytes);
        self.0.sock.shutdown(Shutdown::Write).unwrap();
        self.read_to_end()
    }

    /// Sends bytes, which need not be a complete request.
    pub fn send_bytes(&mut self, bytes: &[u8]) {
        self.0.write_all(bytes).unwrap();
        self.0.flush().unwrap();
    }

    fn read_to_end(mut self) -> Vec<RawResponse> {
        let mut all = String::new();
        self.0.read_to_string(&mut all).unwrap_or_else(|e| panic!("{e} after {all:?}"));
        parse_responses(&all)
    }
}

/// One of several responses.
#[derive(Debug)]
pub struct RawResponse {
    pub status: u16,
    pub head: String,
    pub body: String,
}

/// Splits a stream into its responses. Responses to HEAD are not supported.
pub fn parse_responses(mut all: &str) -> Vec<RawResponse> {
    let mut responses = Vec::new();
    while !all.is_empty() {
        let (head, rest) = all.split_once("\r\n\r\n").unwrap_or_else(|| panic!("not a response: {all:?}"));
        let (body, rest) = rest.split_at(content_length(head));
        let line = head.strip_prefix("HTTP/1.1 ").or(head.strip_prefix("HTTP/1.0 "));
        let status = line.and_then(|line| line.get(..3)?.parse().ok());
        let status = status.unwrap_or_else(|| panic!("not a response: {head:?}"));
        responses.push(RawResponse { status, head: head.to_lowercase(), body: body.to_owned() });
        all = rest;
    }
    responses
}

fn content_length(head: &str) -> usize {
    let length =
        head.lines().find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
    length.unwrap_or(0)
}

/// Whether the head of a response and its declared body are complete.
fn is_complete(response: &[u8]) -> bool {
    let text = String::from_utf8_lossy(response);
    text.split_once("\r\n\r\n").is_some_and(|(head, body)| body.len() >= content_length(head))
}
