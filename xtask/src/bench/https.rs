//! A client that costs as little as one can, so that it leaves the processors to what is measured.

use std::io::Write;
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use super::wire;

/// No answer takes longer.
const LIMIT: Duration = Duration::from_secs(30);

/// The service's address, and how it is trusted.
pub(super) struct Https {
    address: SocketAddr,
    config: Arc<ClientConfig>,
}

/// A connection that is kept.
pub(super) struct Connection {
    stream: StreamOwned<ClientConnection, TcpStream>,
    buffer: Vec<u8>,
}

/// An answer to a request.
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) body: Vec<u8>,
}

impl Https {
    /// `folder` holds the certificate of whoever listens at `address`, and its key.
    pub(super) fn new(address: SocketAddr, folder: &Path) -> Result<Self> {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_file(folder.join("certificate.pem"))?)?;
        let config = ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
        Ok(Self { address, config: Arc::new(config) })
    }

    /// The same certificate at another address.
    pub(super) fn at(&self, address: SocketAddr) -> Self {
        Self { address, config: Arc::clone(&self.config) }
    }

    pub(super) fn connect(&self) -> Result<Connection> {
        let socket = TcpStream::connect(self.address)?;
        socket.set_nodelay(true)?;
        socket.set_read_timeout(Some(LIMIT))?;
        let name = ServerName::try_from("localhost")?;
        let tls = ClientConnection::new(Arc::clone(&self.config), name)?;
        Ok(Connection { stream: StreamOwned::new(tls, socket), buffer: Vec::new() })
    }
}

impl Connection {
    /// Sends a whole request and reads the whole answer.
    pub(super) fn call(&mut self, request: &[u8]) -> Result<Answer> {
        self.stream.write_all(request)?;
        self.stream.flush()?;
        let message = wire::read(&mut self.stream, &mut self.buffer)?.context("the connection was closed")?;
        let status = message.head.split(' ').nth(1).and_then(|it| it.parse().ok());
        Ok(Answer { status: status.context("an answer without a status")?, body: message.body.to_vec() })
    }

    /// The same; another status than `status` is an error.
    pub(super) fn expect(&mut self, status: u16, request: &[u8]) -> Result<Vec<u8>> {
        let answer = self.call(request)?;
        if answer.status != status {
            bail!("answered {}: {}", answer.status, String::from_utf8_lossy(&answer.body));
        }
        Ok(answer.body)
    }
}

/// Makes the bytes of a request from its connection's number and its own.
pub(super) type Request<'a> = dyn Fn(usize, usize) -> Vec<u8> + Sync + 'a;

/// What came of a closed loop: each connection sends its next request when it has the answer to the last.
#[derive(Default)]
pub(super) struct Loop {
    /// Of the requests that were answered as they should be.
    pub(super) times: Vec<Duration>,
    pub(super) took: Duration,
    /// How many were answered in all, those of the first tenth included.
    pub(super) answered: u32,
    /// How many were answered otherwise.
    pub(super) refused: usize,
    /// The first such answer.
    pub(super) refusal: Option<Answer>,
}

/// Sends requests over so many connections for `period`; the first tenth is not counted.
pub(super) fn closed_loop(
    https: &Https,
    connections: usize,
    period: Duration,
    status: u16,
    request: &Request<'_>,
) -> Result<Loop> {
    let open: Vec<_> = (0..connections).map(|_| https.connect()).collect::<Result<_>>()?;
    let start = Instant::now();
    let (counted_from, end) = (start + period / 10, start + period);
    let one = |number: usize, mut connection: Connection| -> Result<Loop> {
        let mut done = Loop::default();
        for count in 0_usize.. {
            let bytes = request(number, count);
            let sent = Instant::now();
            if sent >= end {
                break;
            }
            let answer = connection.call(&bytes)?;
            done.answered += 1;
            if answer.status != status {
                done.refused += 1;
                done.refusal.get_or_insert(answer);
            } else if sent >= counted_from {
                done.times.push(sent.elapsed());
            }
        }
        Ok(done)
    };
    let mut all = std::thread::scope(|scope| -> Result<Loop> {
        let threads: Vec<_> = open
            .into_iter()
            .enumerate()
            .map(|(number, connection)| scope.spawn(move || one(number, connection)))
            .collect();
        let mut all = Loop::default();
        for thread in threads {
            let Ok(done) = thread.join() else { bail!("a thread of the client panicked") };
            let done = done?;
            all.times.extend(done.times);
            all.answered += done.answered;
            all.refused += done.refused;
            all.refusal = all.refusal.or(done.refusal);
        }
        Ok(all)
    })?;
    all.took = counted_from.elapsed();
    Ok(all)
}
