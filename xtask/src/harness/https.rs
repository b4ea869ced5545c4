//! A client that costs as little as one can, so that it leaves the processors to what is measured.

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

use super::wire;

/// No answer takes longer.
const LIMIT: Duration = Duration::from_secs(30);

/// The service's address, and how it is trusted.
pub(crate) struct Https {
    address: SocketAddr,
    config: Arc<ClientConfig>,
}

/// A connection that is kept.
pub(crate) struct Connection {
    stream: StreamOwned<ClientConnection, TcpStream>,
    buffer: Vec<u8>,
}

/// An answer to a request.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    /// How long a client is asked to wait before it repeats the request.
    pub(crate) fn retry_after(&self) -> Duration {
        let seconds = wire::field(&self.head, "retry-after").and_then(|it| it.parse().ok());
        Duration::from_secs(seconds.unwrap_or(0))
    }

    /// Whether it is the kept answer to a request with the same key.
    pub(crate) fn is_replayed(&self) -> bool {
        wire::field(&self.head, "idempotency-replayed") == Some("true")
    }
}

impl Https {
    /// `folder` holds the certificate of whoever listens at `address`, and its key.
    pub(crate) fn new(address: SocketAddr, folder: &Path) -> Result<Self> {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_file(folder.join("certificate.pem"))?)?;
        let config = ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
        Ok(Self { address, config: Arc::new(config) })
    }

    /// The same certificate at another address.
    pub(crate) fn at(&self, address: SocketAddr) -> Self {
        Self { address, config: Arc::clone(&self.config) }
    }

    pub(crate) fn connect(&self) -> Result<Connection> {
        self.connect_from(Ipv4Addr::LOCALHOST)
    }

    /// The same from another address of this machine.
    pub(crate) fn connect_from(&self, address: Ipv4Addr) -> Result<Connection> {
        let IpAddr::V4(host) = self.address.ip() else { bail!("only IPv4 has many addresses of loopback") };
        let bound = socket(AddressFamily::INET, SocketType::STREAM, None)?;
        bind(&bound, &SocketAddrV4::new(address, 0))?;
        connect(&bound, &SocketAddrV4::new(host, self.address.port()))?;
        let socket = TcpStream::from(bound);
        socket.set_nodelay(true)?;
        socket.set_read_timeout(Some(LIMIT))?;
        let name = ServerName::try_from("localhost")?;
        let tls = ClientConnection::new(Arc::clone(&self.config), name)?;
        Ok(Connection { stream: StreamOwned::new(tls, socket), buffer: Vec::new() })
    }
}

impl Connection {
    /// Shakes hands, where nothing has been sent yet.
    pub(crate) fn shake_hands(&mut self) -> Result<()> {
        while self.stream.conn.is_handshaking() {
            self.stream.conn.complete_io(&mut self.stream.sock)?;
        }
        Ok(())
    }

    /// Says that nothing more is sent.
    pub(crate) fn finish(&mut self) -> Result<()> {
        self.stream.conn.send_close_notify();
        self.stream.flush()?;
        self.shut()
    }

    /// Ends the TCP stream without an end of TLS, as many clients do.
    pub(crate) fn shut(&mut self) -> Result<()> {
        Ok(self.stream.sock.shutdown(std::net::Shutdown::Write)?)
    }

    /// Sends bytes that need be no whole request.
    pub(crate) fn send(&mut self, bytes: &[u8]) -> Result<()> {
        self.stream.write_all(bytes)?;
        Ok(self.stream.flush()?)
    }

    /// The next bytes of whatever is answered; none at the end.
    pub(crate) fn receive<'a>(&mut self, room: &'a mut [u8]) -> Result<&'a [u8]> {
        let count = self.stream.read(room)?;
        Ok(room.get(..count).unwrap_or_default())
    }

    /// Drops whatever was answered, unread; whether the other side has not closed.
    pub(crate) fn drain(&mut self) -> Result<bool> {
        self.stream.sock.set_nonblocking(true)?;
        let mut room = [0; 16 << 10];
        let is_open = loop {
            match self.stream.sock.read(&mut room) {
                Ok(0) => break false,
                Ok(_some) => {}
                Err(cause) => break cause.kind() == ErrorKind::WouldBlock,
            }
        };
        self.stream.sock.set_nonblocking(false)?;
        Ok(is_open)
    }

    /// How long the next read or write waits at most.
    pub(crate) fn patience(&self, limit: Duration) -> Result<()> {
        self.stream.sock.set_read_timeout(Some(limit))?;
        Ok(self.stream.sock.set_write_timeout(Some(limit))?)
    }

    /// Sends a whole request and reads the whole answer.
    pub(crate) fn call(&mut self, request: &[u8]) -> Result<Answer> {
        self.stream.write_all(request)?;
        self.stream.flush()?;
        let message = wire::read(&mut self.stream, &mut self.buffer)?.context("the connection was closed")?;
        let status = message.head.split(' ').nth(1).and_then(|it| it.parse().ok());
        let status = status.context("an answer without a status")?;
        Ok(Answer { status, head: message.head.to_owned(), body: message.body.to_vec() })
    }

    /// The same; another status than `status` is an error.
    pub(crate) fn expect(&mut self, status: u16, request: &[u8]) -> Result<Vec<u8>> {
        let answer = self.call(request)?;
        if answer.status != status {
            bail!("answered {}: {}", answer.status, String::from_utf8_lossy(&answer.body));
        }
        Ok(answer.body)
    }
}

/// Makes the bytes of a request from its connection's number and its own.
pub(crate) type Request<'a> = dyn Fn(usize, usize) -> Vec<u8> + Sync + 'a;

/// What came of a closed loop: each connection sends its next request when it has the answer to the last.
#[derive(Default)]
pub(crate) struct Loop {
    /// Of the requests that were answered as they should be.
    pub(crate) times: Vec<Duration>,
    pub(crate) took: Duration,
    /// How many were answered in all, those of the first tenth included.
    pub(crate) answered: u32,
    /// How many were answered otherwise.
    pub(crate) refused: usize,
    /// The first such answer.
    pub(crate) refusal: Option<Answer>,
}

/// Sends requests over so many connections for `period`; the first tenth is not counted.
pub(crate) fn closed_loop(
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
