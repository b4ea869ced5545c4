//! The store with connections through the PgBouncer package of Debian (docs/operating.md).

use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use guerdon_persistence::testing::{TestDatabase, postgres_if_covered};
use guerdon_persistence::{Access, DatabaseUrl, migrate, open};
use guerdon_test_support::{require_condition, require_program};
use tempfile::TempDir;

/// The user that PgBouncer runs as, because it refuses to run as root.
const NOBODY_USER_ID: u32 = 65_534;

/// A running PgBouncer and the URL of the database behind it.
pub struct Pooler {
    child: Child,
    user: String,
    port: u16,
    database: String,
    _folder: TempDir,
}

impl Pooler {
    /// Starts PgBouncer with additional settings. Outside CI, returns `None`, recorded as a skipped test, if PgBouncer
    /// is not installed, or if PostgreSQL is not reached over a Unix socket.
    pub fn start_pooler(settings: &str, database: &TestDatabase) -> Option<Self> {
        let address = parse_socket_url(&database.url);
        require_condition(address.is_some(), "a Unix socket of PostgreSQL");
        let (name, socket, user) = address?;
        let program = require_program("pgbouncer")?;
        let folder = TempDir::new().unwrap();
        std::fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o755)).unwrap();
        let users = folder.path().join("users");
        std::fs::write(&users, format!("\"{user}\" \"\"\n")).unwrap();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let settings = format!(
            "[databases]\n* = host={socket} user={user}\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\n\
             unix_socket_dir =\nauth_type = any\nauth_file = {}\ndefault_pool_size = 20\n{settings}\n",
            users.display(),
        );
        let file = folder.path().join("pgbouncer.ini");
        std::fs::write(&file, settings).unwrap();
        let mut command = Command::new(program);
        command.arg("-q").arg(&file).stdout(Stdio::null()).stderr(Stdio::null());
        if folder.path().metadata().unwrap().uid() == 0 {
            command.uid(NOBODY_USER_ID).gid(NOBODY_USER_ID);
        }
        let mut child = command.spawn().unwrap();
        let began = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(child.try_wait().unwrap().is_none(), "PgBouncer exited");
            assert!(began.elapsed() < Duration::from_secs(20), "PgBouncer does not listen");
            std::thread::yield_now();
        }
        Some(Self { child, user: user.to_owned(), port, database: name.to_owned(), _folder: folder })
    }

    /// The URL of the database behind PgBouncer, with this host name and these parameters.
    pub fn database_url(&self, host: &str, parameters: &str) -> DatabaseUrl {
        let Self { user, port, database, .. } = self;
        DatabaseUrl::parse(&format!("postgres://{user}@{host}:{port}/{database}?{parameters}")).unwrap()
    }
}

/// Parses a URL of the form that the tests' own cluster has. Returns the name of the database, the folder of
/// the socket, and the user.
fn parse_socket_url(url: &str) -> Option<(&str, String, &str)> {
    let (before, query) = url.split_once('?')?;
    let value = |name: &str| query.split('&').find_map(|pair| pair.strip_prefix(name));
    Some((before.strip_prefix("postgres:///")?, value("host=")?.replace("%2F", "/"), value("user=")?))
}

impl Drop for Pooler {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

#[test]
fn a_pooler_in_session_mode_works() {
    if let Some(database) = postgres_if_covered() {
        let Some(pooler) = Pooler::start_pooler("pool_mode = session", &database) else { return };
        migrate(&pooler.database_url("127.0.0.1", "")).unwrap();
        open(&pooler.database_url("127.0.0.1", ""), Access::ServeWithoutDurability).map(drop).unwrap();
    }
}

#[test]
fn a_pooler_in_transaction_mode_is_refused() {
    if let Some(database) = postgres_if_covered() {
        for round_robin in [0, 1] {
            let settings = format!("pool_mode = transaction\nserver_round_robin = {round_robin}");
            let Some(pooler) = Pooler::start_pooler(&settings, &database) else { return };
            for _ in 0..3 {
                let migrated = migrate(&pooler.database_url("127.0.0.1", "")).map(drop);
                let opened = open(&pooler.database_url("127.0.0.1", ""), Access::Command).map(drop);
                for refused in [migrated, opened] {
                    let why = refused.unwrap_err().to_string();
                    assert!(why.contains("pool_mode = session"), "{why}");
                }
            }
        }
    }
}
