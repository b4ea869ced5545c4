//! Accepts commands on the socket in `serve`.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use actix_web::rt;
use anyhow::{Context, bail};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};

use super::{
    CommandRequest, LINE_LENGTH_MAX, Reply, RequestVersion, SOCKET_NAME, ShortPath, canonical_path,
    is_service_listening,
};
use crate::commands::CommandEnvironment;
use crate::platform::build_info::VERSION;
use crate::platform::files::ensure_private_folder;
use crate::platform::random;

const CLIENTS_MAX: u32 = 64;
/// The time limits for reading a request and writing a reply, so that a slow client does not block others.
const READ_TIMEOUT: Duration = Duration::from_secs(10);
const WRITE_TIMEOUT: Duration = Duration::from_secs(30);
const ACCEPT_RETRY_INTERVAL: Duration = Duration::from_millis(100);

/// The open socket. Dropping it removes its file.
pub(crate) struct CommandSocket {
    listener: UnixListener,
    path: PathBuf,
    /// The user whose commands are accepted.
    user: u32,
}

impl Drop for CommandSocket {
    fn drop(&mut self) {
        if let Err(cause) = fs::remove_file(&self.path) {
            log::warn!(file:% = self.path.display(), cause:%; "cannot remove the socket");
        }
    }
}

/// Runs the commands that arrive on the socket.
pub(crate) struct CommandHandler {
    environment: CommandEnvironment,
    database: PathBuf,
    clients: Arc<Semaphore>,
}

impl CommandSocket {
    /// Opens the socket in the data folder. The socket is bound in a new private folder and then moved into the data
    /// folder. So its mode is 0600 before other users can reach it, and it replaces a socket that remained after a
    /// crash. Fails if another process serves this data folder.
    pub(crate) fn open_in(data_dir: &Path) -> anyhow::Result<Self> {
        let path = data_dir.join(SOCKET_NAME);
        if is_service_listening(data_dir) {
            bail!("another guerdon uses the data folder {}", data_dir.display());
        }
        let folder = data_dir.join(random::generate_name(".socket-")?);
        ensure_private_folder(&folder)?;
        let opened = Self::bind_private(&folder, &path);
        let _gone = fs::remove_dir_all(&folder);
        let (listener, user) =
            opened.with_context(|| format!("cannot open the socket {}", path.display()))?;
        Ok(Self { listener, path, user })
    }

    fn bind_private(folder: &Path, path: &Path) -> std::io::Result<(UnixListener, u32)> {
        let listener = UnixListener::bind(&ShortPath::for_file(folder, SOCKET_NAME)?.path)?;
        let temporary_path = folder.join(SOCKET_NAME);
        fs::set_permissions(&temporary_path, Permissions::from_mode(0o600))?;
        fs::rename(&temporary_path, path)?;
        listener.set_nonblocking(true)?;
        Ok((listener, fs::symlink_metadata(path)?.uid()))
    }

    /// Accepts commands while the future is polled.
    pub(crate) async fn accept_commands(self, handler: Arc<CommandHandler>) {
        let listener = self.listener.try_clone().and_then(tokio::net::UnixListener::from_std);
        let listener = match listener {
            Ok(listener) => listener,
            Err(cause) => {
                return log::error!(cause:%; "the command socket failed: restart the service to use commands");
            }
        };
        loop {
            let Ok(permit) = Arc::clone(&handler.clients).acquire_owned().await else { return };
            match listener.accept().await {
                Ok((stream, _)) if is_from_user(&stream, self.user) => {
                    let handler = Arc::clone(&handler);
                    rt::spawn(async move {
                        handler.serve_client(stream).await;
                        drop(permit);
                    });
                }
                Ok((stream, _)) => {
                    log::warn!("refused a command from another operating system user");
                    rt::spawn(async move {
                        let refused = Reply::Refused("commands of another user are not accepted".to_owned());
                        write_reply(&mut BufReader::new(stream), &refused).await;
                        drop(permit);
                    });
                }
                Err(cause) => {
                    log::warn!(cause:%; "cannot accept a connection to the command socket, retrying");
                    sleep(ACCEPT_RETRY_INTERVAL).await;
                }
            }
        }
    }
}

fn is_from_user(stream: &UnixStream, user: u32) -> bool {
    stream.peer_cred().is_ok_and(|peer| peer.uid() == user)
}

async fn write_reply(stream: &mut BufReader<UnixStream>, reply: &Reply) {
    let mut line = serde_json::to_vec(reply).unwrap_or_default();
    line.push(b'\n');
    if !matches!(timeout(WRITE_TIMEOUT, stream.write_all(&line)).await, Ok(Ok(()))) {
        match reply {
            Reply::Done(_) => {
                log::warn!("the sender of a command disconnected before the reply; the command ran")
            }
            Reply::Refused(_) | Reply::OtherDatabase => {
                log::warn!("the sender of a command disconnected before the reply")
            }
        }
    }
}

impl CommandHandler {
    /// Creates a handler that runs commands on this database.
    pub(crate) fn new(environment: CommandEnvironment, database: &Path) -> Self {
        let clients = usize::try_from(CLIENTS_MAX).unwrap_or(1);
        Self { environment, database: canonical_path(database), clients: Arc::new(Semaphore::new(clients)) }
    }

    /// Waits until no command is running, but at most for `max_wait`. Returns the number of commands that are still
    /// running.
    pub(crate) async fn wait_until_idle(&self, max_wait: Duration) -> usize {
        match timeout(max_wait, self.clients.acquire_many(CLIENTS_MAX)).await {
            Ok(_all) => 0,
            Err(_elapsed) => self.count_running(),
        }
    }

    /// The number of running commands, after commands are no longer accepted.
    fn count_running(&self) -> usize {
        usize::try_from(CLIENTS_MAX).unwrap_or(0).saturating_sub(self.clients.available_permits())
    }

    async fn serve_client(self: Arc<Self>, stream: UnixStream) {
        let mut stream = BufReader::new(stream);
        let mut line = Vec::new();
        let read =
            timeout(READ_TIMEOUT, (&mut stream).take(LINE_LENGTH_MAX).read_until(b'\n', &mut line)).await;
        match read {
            Ok(Ok(0)) => return, // `is_service_listening` connects and sends nothing
            Ok(Ok(_)) if line.ends_with(b"\n") => {}
            Ok(_) | Err(_) => {
                return log::warn!("received an incomplete command on the socket; it was not run");
            }
        }
        let reply = match actix_web::web::block(move || self.execute_request(line)).await {
            Ok(reply) => reply,
            Err(_panic) => Reply::Refused(
                "internal error: see the log of `guerdon serve`, and check the result before you retry"
                    .to_owned(),
            ),
        };
        write_reply(&mut stream, &reply).await;
    }

    fn execute_request(&self, line: Vec<u8>) -> Reply {
        let version =
            serde_json::from_slice::<RequestVersion>(&line).ok().and_then(|envelope| envelope.version);
        if version.as_deref() != Some(VERSION) {
            return Reply::Refused(format!(
                "the running `guerdon serve` has version {VERSION}, this command {}: use the same version, \
                 or restart the service",
                version.as_deref().unwrap_or("another")
            ));
        }
        let request: CommandRequest = match serde_json::from_slice(&line) {
            Ok(request) => request,
            Err(cause) => {
                return Reply::Refused(format!("the running `guerdon serve` has no such command: {cause}"));
            }
        };
        drop(line); // an import may have 64 MiB
        if request.database != self.database {
            return Reply::OtherDatabase;
        }
        match request.command.execute_and_log(&self.environment.with_user(request.by)) {
            Ok(output) => Reply::Done(output),
            Err(cause) => Reply::Refused(cause.to_string()),
        }
    }
}
