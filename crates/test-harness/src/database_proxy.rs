//! A proxy between a service and PostgreSQL that injects faults into their connections: the server commits, but the
//! service receives no acknowledgement; commits are held back; connections break, are refused or rejected, or transmit
//! nothing.

use std::io::{Read as _, Write as _};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::Result;
use tempfile::TempDir;

/// The name of PostgreSQL's socket file in its folder.
const SOCKET: &str = ".s.PGSQL.5432";
/// How long a client may take to send its first message.
const FIRST_MESSAGE_TIMEOUT: Duration = Duration::from_secs(10);
const HOLD_CHECK_INTERVAL: Duration = Duration::from_millis(10);
/// The fields of the error `too_many_connections`.
const TOO_MANY_CLIENTS: [&str; 4] = ["SFATAL", "VFATAL", "C53300", "Msorry, too many clients already"];
const COMMIT: &[u8] = b"Q\0\0\0\x0bCOMMIT\0";
/// The prefix of a statement that records attempts.
const RECORD_ATTEMPTS_SQL: &[u8] = b"INSERT INTO attempts";
/// One in this many commits is not acknowledged: among the commits that record attempts, and among all others.
const LOSE_ONE_IN_RECORDING: usize = 2;
const LOSE_ONE_IN_OTHERS: usize = 24;

/// What happens to the connections of a proxy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConnectionFault {
    /// Some commits reach the server, but the connection breaks before the response.
    LostCommits,
    /// Commits reach the server when the fault ends. To the service this looks like a missing synchronous standby.
    HeldCommits,
    /// New connections are refused.
    Refused,
    /// New connections get the error of a server whose connections are all in use.
    TooManyClients,
    /// Nothing is transmitted, and no connection is closed. Connections that lost data stay silent.
    BlackHole,
}

/// A proxy that listens until its folder is deleted.
pub struct DatabaseProxy {
    folder: TempDir,
    url: String,
    host: String,
    shared: Arc<ProxyState>,
}

#[derive(Default)]
struct ProxyState {
    fault: Mutex<Option<ConnectionFault>>,
    /// The client's and the server's side of each connection since the last cut.
    connections: Mutex<Vec<[UnixStream; 2]>>,
    recording: Commits,
    others: Commits,
}

#[derive(Default)]
struct Commits {
    seen: AtomicUsize,
    lost: AtomicUsize,
}

impl DatabaseProxy {
    /// A proxy for the server of this URL. `None` if the server is not reached over a Unix socket.
    pub fn start_in_front_of(url: &str) -> Result<Option<Self>> {
        let Some((_, parameters)) = url.split_once("host=") else { return Ok(None) };
        let host = parameters.split('&').next().unwrap_or_default().to_owned();
        let decoded = host.replace("%2F", "/").replace("%2f", "/").replace("%2E", ".");
        let server = PathBuf::from(decoded).join(SOCKET);
        let folder = TempDir::new()?;
        let listener = UnixListener::bind(folder.path().join(SOCKET))?;
        let shared = Arc::<ProxyState>::default();
        let all = Arc::clone(&shared);
        std::thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                if all.has_fault(ConnectionFault::Refused) {
                    continue; // closes it
                }
                if all.has_fault(ConnectionFault::TooManyClients) {
                    std::thread::spawn(move || reject_client(client));
                    continue;
                }
                // If the server does not listen, the connection is closed.
                let _closed = UnixStream::connect(&server).map(|server| all.relay_connection(client, server));
            }
        });
        Ok(Some(Self { folder, url: url.to_owned(), host, shared }))
    }

    /// The URL of the same database through the proxy.
    pub fn url(&self) -> String {
        let here = self.folder.path().to_string_lossy().replace('/', "%2F");
        self.url.replace(&format!("host={}", self.host), &format!("host={here}"))
    }

    /// Sets the fault from now on; `None` ends it.
    pub fn set_fault(&self, fault: Option<ConnectionFault>) {
        *self.shared.fault.lock().unwrap_or_else(PoisonError::into_inner) = fault;
    }

    /// Closes all connections.
    pub fn cut_connections(&self) {
        let mut connections = self.shared.connections.lock().unwrap_or_else(PoisonError::into_inner);
        connections.drain(..).flatten().for_each(|side| shut_down(&side));
    }

    /// The number of unacknowledged commits: those that record attempts, and the others.
    pub fn count_lost_commits(&self) -> [usize; 2] {
        [&self.shared.recording, &self.shared.others].map(|commits| commits.lost.load(Ordering::Relaxed))
    }
}

impl ProxyState {
    fn has_fault(&self, fault: ConnectionFault) -> bool {
        *self.fault.lock().unwrap_or_else(PoisonError::into_inner) == Some(fault)
    }

    fn relay_connection(self: &Arc<Self>, client: UnixStream, server: UnixStream) -> Result<()> {
        let sides = [client.try_clone()?, server.try_clone()?];
        self.connections.lock().unwrap_or_else(PoisonError::into_inner).push(sides);
        let has_lost_commit = Arc::new(AtomicBool::new(false));
        let is_silent = Arc::new(AtomicBool::new(false));
        let (from_server, to_client) = (server.try_clone()?, client.try_clone()?);
        let (state, lost, silent) = (Arc::clone(self), Arc::clone(&has_lost_commit), Arc::clone(&is_silent));
        std::thread::spawn(move || state.relay_responses(&from_server, &to_client, &lost, &silent));
        let state = Arc::clone(self);
        std::thread::spawn(move || state.relay_requests(&client, &server, &has_lost_commit, &is_silent));
        Ok(())
    }

    fn relay_responses(
        &self,
        mut server: &UnixStream,
        mut client: &UnixStream,
        has_lost_commit: &AtomicBool,
        is_silent: &AtomicBool,
    ) {
        let mut buffer = vec![0; 64 * 1024];
        while let Ok(count @ 1..) = server.read(&mut buffer) {
            if self.is_silenced(is_silent) {
                continue;
            }
            let received = buffer.get(..count).unwrap_or_default();
            if has_lost_commit.load(Ordering::Relaxed) || client.write_all(received).is_err() {
                break;
            }
        }
        [server, client].into_iter().for_each(shut_down);
    }

    fn relay_requests(
        &self,
        mut client: &UnixStream,
        mut server: &UnixStream,
        has_lost_commit: &AtomicBool,
        is_silent: &AtomicBool,
    ) {
        let mut buffer = vec![0; 1024 * 1024];
        let mut session = ProxySession::default();
        while let Ok(count @ 1..) = client.read(&mut buffer) {
            if self.is_silenced(is_silent) {
                continue;
            }
            let sent = buffer.get(..count).unwrap_or_default();
            session.observe_message(sent);
            if sent == COMMIT && self.should_lose_commit(std::mem::take(&mut session.has_recorded_attempts)) {
                has_lost_commit.store(true, Ordering::Relaxed);
            }
            while sent == COMMIT && self.has_fault(ConnectionFault::HeldCommits) {
                std::thread::sleep(HOLD_CHECK_INTERVAL); // tidy: until the fault ends
            }
            if server.write_all(sent).is_err() {
                break;
            }
        }
        [server, client].into_iter().for_each(shut_down);
    }

    /// Whether a connection transmits nothing, now or because something was discarded before.
    fn is_silenced(&self, is_silent: &AtomicBool) -> bool {
        if self.has_fault(ConnectionFault::BlackHole) {
            is_silent.store(true, Ordering::Relaxed);
        }
        is_silent.load(Ordering::Relaxed)
    }

    fn should_lose_commit(&self, records: bool) -> bool {
        let (commits, one_in) = if records {
            (&self.recording, LOSE_ONE_IN_RECORDING)
        } else {
            (&self.others, LOSE_ONE_IN_OTHERS)
        };
        let is_lost = self.has_fault(ConnectionFault::LostCommits)
            && commits.seen.fetch_add(1, Ordering::Relaxed).is_multiple_of(one_in);
        commits.lost.fetch_add(usize::from(is_lost), Ordering::Relaxed);
        is_lost
    }
}

/// Reads the first message of a client, and responds with an error (ErrorResponse in PostgreSQL's protocol).
fn reject_client(mut client: UnixStream) -> std::io::Result<()> {
    client.set_read_timeout(Some(FIRST_MESSAGE_TIMEOUT))?;
    let _count = client.read(&mut [0; 1024])?;
    let fields: Vec<u8> =
        TOO_MANY_CLIENTS.iter().flat_map(|field| [field.as_bytes(), &[0]].concat()).collect();
    let length = u32::try_from(fields.len() + 5).unwrap_or(u32::MAX).to_be_bytes();
    client.write_all(&[b"E", &length[..], &fields, &[0]].concat())
}

/// Closes both directions, unless the other side has already done so.
fn shut_down(side: &UnixStream) {
    let _is_closed = side.shutdown(Shutdown::Both);
}

/// The state of one connection. libpq waits for each response, so each read contains one message.
#[derive(Default)]
struct ProxySession {
    /// The prepared statements that record attempts.
    recording_statements: Vec<Vec<u8>>,
    /// Whether the current transaction has recorded attempts.
    has_recorded_attempts: bool,
}

impl ProxySession {
    fn observe_message(&mut self, message: &[u8]) {
        let mut texts = message.get(5..).unwrap_or_default().split(|byte| *byte == 0);
        match message.first() {
            Some(b'P')
                if message.windows(RECORD_ATTEMPTS_SQL.len()).any(|window| window == RECORD_ATTEMPTS_SQL) =>
            {
                self.has_recorded_attempts = true;
                self.recording_statements
                    .extend(texts.next().filter(|name| !name.is_empty()).map(<[u8]>::to_vec));
            }
            Some(b'B') => {
                let statement = texts.nth(1).unwrap_or_default();
                self.has_recorded_attempts |= self.recording_statements.iter().any(|name| name == statement);
            }
            _ => {}
        }
    }
}
