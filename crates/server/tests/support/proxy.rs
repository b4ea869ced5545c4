//! A proxy between a service and PostgreSQL that drops responses: the server commits, but the service receives no
//! acknowledgement.

use std::io::{Read as _, Write as _};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use guerdon_test_support::record_skip;
use tempfile::TempDir;

/// The name of PostgreSQL's socket file in its folder.
const SOCKET: &str = ".s.PGSQL.5432";
const COMMIT: &[u8] = b"Q\0\0\0\x0bCOMMIT\0";
/// The prefix of a statement that records attempts.
const RECORD_ATTEMPTS_SQL: &[u8] = b"INSERT INTO attempts";
/// Of the commits that record attempts, and of all other commits, one in this many is not acknowledged.
const LOSE_ONE_IN_RECORDING: usize = 2;
const LOSE_ONE_IN_OTHERS: usize = 24;

/// Listens until its folder is deleted.
pub struct Proxy {
    folder: TempDir,
    url: String,
    host: String,
    shared: Arc<ProxyState>,
}

#[derive(Default)]
struct ProxyState {
    is_losing: AtomicBool,
    recording: Commits,
    others: Commits,
}

#[derive(Default)]
struct Commits {
    seen: AtomicUsize,
    lost: AtomicUsize,
}

impl Proxy {
    /// A proxy for the server of this URL. `None` if the server is not reached over a Unix socket; the test is then
    /// skipped.
    pub fn in_front_of(url: &str) -> Option<Self> {
        let Some((_, parameters)) = url.split_once("host=") else {
            record_skip("PostgreSQL is not reached over a Unix socket");
            return None;
        };
        let host = parameters.split('&').next()?.to_owned();
        let server = format!("{}/{SOCKET}", host.replace("%2F", "/").replace("%2f", "/").replace("%2E", "."));
        let folder = TempDir::new().unwrap();
        let listener = UnixListener::bind(folder.path().join(SOCKET)).unwrap();
        let shared = Arc::<ProxyState>::default();
        let all = Arc::clone(&shared);
        std::thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let Ok(server) = UnixStream::connect(&server) else { continue };
                all.relay_connection(client, server);
            }
        });
        Some(Self { folder, url: url.to_owned(), host, shared })
    }

    /// The URL of the same database through the proxy.
    pub fn url(&self) -> String {
        let here = self.folder.path().to_string_lossy().replace('/', "%2F");
        self.url.replace(&format!("host={}", self.host), &format!("host={here}"))
    }

    /// Sets whether responses are dropped from now on.
    pub fn set_losing(&self, loses: bool) {
        self.shared.is_losing.store(loses, Ordering::Relaxed);
    }

    /// The number of unacknowledged commits: those that record attempts, and the others.
    pub fn count_lost_commits(&self) -> [usize; 2] {
        [&self.shared.recording, &self.shared.others].map(|commits| commits.lost.load(Ordering::Relaxed))
    }
}

impl ProxyState {
    fn relay_connection(self: &Arc<Self>, mut client: UnixStream, mut server: UnixStream) {
        let is_mute = Arc::new(AtomicBool::new(false));
        let (mut from_server, mut to_client) = (server.try_clone().unwrap(), client.try_clone().unwrap());
        let mute = Arc::clone(&is_mute);
        std::thread::spawn(move || {
            let mut bytes = vec![0; 64 * 1024];
            while let Ok(count @ 1..) = from_server.read(&mut bytes) {
                if mute.load(Ordering::Relaxed) || to_client.write_all(&bytes[..count]).is_err() {
                    break;
                }
            }
            drop((from_server.shutdown(Shutdown::Both), to_client.shutdown(Shutdown::Both)));
        });
        let all = Arc::clone(self);
        std::thread::spawn(move || {
            let mut bytes = vec![0; 1024 * 1024];
            let mut session = ProxySession::default();
            while let Ok(count @ 1..) = client.read(&mut bytes) {
                let sent = &bytes[..count];
                session.observe_message(sent);
                if sent == COMMIT
                    && all.should_lose_commit(std::mem::take(&mut session.has_recorded_attempts))
                {
                    is_mute.store(true, Ordering::Relaxed);
                }
                if server.write_all(sent).is_err() {
                    break;
                }
            }
            drop((server.shutdown(Shutdown::Both), client.shutdown(Shutdown::Both)));
        });
    }

    fn should_lose_commit(&self, records: bool) -> bool {
        let (commits, one_in) = if records {
            (&self.recording, LOSE_ONE_IN_RECORDING)
        } else {
            (&self.others, LOSE_ONE_IN_OTHERS)
        };
        let is_lost = self.is_losing.load(Ordering::Relaxed)
            && commits.seen.fetch_add(1, Ordering::Relaxed).is_multiple_of(one_in);
        commits.lost.fetch_add(usize::from(is_lost), Ordering::Relaxed);
        is_lost
    }
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
