//! A connection whose every step can be seen: reached, shaken hands, asked, answered.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use super::service::Service;

/// A TLS connection to the service.
pub struct Wire(StreamOwned<ClientConnection, TcpStream>);

/// What a client needs to connect.
pub struct Dialer {
    config: Arc<ClientConfig>,
    address: String,
}

impl Dialer {
    pub fn new(service: &Service) -> Self {
        Self::trusting(service, &service.data.path().join("tls/certificate.pem"))
    }

    pub fn trusting(service: &Service, certificate: &Path) -> Self {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_file(certificate).unwrap()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config =
            ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
        let config = config.with_root_certificates(roots).with_no_client_auth();
        let address = service.running.api.split("://").nth(1).unwrap().to_owned();
        Self { config: Arc::new(config), address }
    }

    /// Connects and shakes hands; `None` where nobody listens any more.
    pub fn dial(&self) -> Option<Wire> {
        let mut stream = TcpStream::connect(&self.address).ok()?;
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let name = ServerName::try_from("127.0.0.1").unwrap();
        let mut connection = ClientConnection::new(Arc::clone(&self.config), name).unwrap();
        while connection.is_handshaking() {
            connection.complete_io(&mut stream).ok()?;
        }
        Some(Wire(StreamOwned::new(connection, stream)))
    }
}

impl Wire {
    /// Sends bytes and reads one answer, head and body; what came before the connection broke, if it did.
    pub fn ask(&mut self, request: &[u8]) -> std::io::Result<String> {
        self.0.write_all(request)?;
        self.0.flush()?;
        let mut answer = Vec::new();
        let mut some = [0; 4096];
        while !is_whole(&answer) {
            match self.0.read(&mut some)? {
                0 => return Err(std::io::Error::new(std::io::ErrorKind::UnexpectedEof, "cut")),
                read => answer.extend_from_slice(&some[..read]),
            }
        }
        Ok(String::from_utf8(answer).unwrap())
    }
}

/// Whether an answer's head and the body it declares are there.
fn is_whole(answer: &[u8]) -> bool {
    let text = String::from_utf8_lossy(answer);
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let length = head.lines().find_map(|it| it.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
    body.len() >= length.unwrap_or(0)
}
