//! Through PgBouncer as Debian has it, where it is installed (docs/operating.md).

use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use guerdon_persistence::testing::{TestDatabase, each};
use guerdon_persistence::{Access, DatabaseUrl, migrate, open};
use tempfile::TempDir;

const PROGRAM: &str = "/usr/sbin/pgbouncer";
/// It refuses to run as root.
const NOBODY: u32 = 65_534;

/// A running one, and the address of the database behind it.
struct Pooler {
    child: Child,
    url: DatabaseUrl,
    _folder: TempDir,
}

impl Pooler {
    /// None where it is not installed, or the database is not on a Unix socket.
    fn start(mode: &str, round_robin: bool, database: &TestDatabase) -> Option<Self> {
        let (before, query) = database.url.split_once('?')?;
        let name = before.strip_prefix("postgres:///")?;
        let value = |of: &str| query.split('&').find_map(|it| it.strip_prefix(of));
        let (socket, user) = (value("host=")?.replace("%2F", "/"), value("user=")?);
        if !Path::new(PROGRAM).exists() {
            eprintln!("{PROGRAM} is not installed");
            return None;
        }
        let folder = TempDir::new().unwrap();
        std::fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o755)).unwrap();
        let users = folder.path().join("users");
        std::fs::write(&users, format!("\"{user}\" \"\"\n")).unwrap();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let settings = format!(
            "[databases]\n* = host={socket} user={user}\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\n\
             unix_socket_dir =\nauth_type = any\nauth_file = {}\npool_mode = {mode}\nserver_round_robin = {}\n\
             default_pool_size = 20\n",
            users.display(),
            u8::from(round_robin)
        );
        let file = folder.path().join("pgbouncer.ini");
        std::fs::write(&file, settings).unwrap();
        let mut command = Command::new(PROGRAM);
        command.arg("-q").arg(&file).stdout(Stdio::null()).stderr(Stdio::null());
        if folder.path().metadata().unwrap().uid() == 0 {
            command.uid(NOBODY).gid(NOBODY);
        }
        let mut child = command.spawn().unwrap();
        let began = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(child.try_wait().unwrap().is_none(), "it ended");
            assert!(began.elapsed() < Duration::from_secs(20), "it does not listen");
            std::thread::yield_now();
        }
        let url = DatabaseUrl::parse(&format!("postgres://{user}@127.0.0.1:{port}/{name}")).unwrap();
        Some(Self { child, url, _folder: folder })
    }
}

impl Drop for Pooler {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

#[test]
fn a_pooler_that_keeps_a_session_for_a_connection_does() {
    for database in each() {
        let Some(pooler) = Pooler::start("session", false, &database) else { continue };
        migrate(&pooler.url).unwrap();
        open(&pooler.url, Access::Rehearse).map(drop).unwrap();
    }
}

#[test]
fn a_pooler_that_gives_each_transaction_another_session_is_refused() {
    for database in each() {
        for round_robin in [false, true] {
            let Some(pooler) = Pooler::start("transaction", round_robin, &database) else { continue };
            for _ in 0..3 {
                let migrated = migrate(&pooler.url).map(drop);
                let opened = open(&pooler.url, Access::Command).map(drop);
                for refused in [migrated, opened] {
                    let why = refused.unwrap_err().to_string();
                    assert!(why.contains("pool_mode = session"), "{why}");
                }
            }
        }
    }
}
