//! Sends commands to a running `serve`. Only one process may write to the embedded database. If that process is
//! `serve`, a command is sent to it over a Unix socket in the data folder. Request and reply are one line of JSON each.
//! Only the same user can open the socket.

mod client;
mod listener;

use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::commands::{Command, CommandOutput};

pub(crate) use client::{SendOutcome, send_command};
pub(crate) use listener::{CommandHandler, CommandSocket};

pub(crate) const SOCKET_NAME: &str = "guerdon.sock";
/// The maximum size of a request, which the service holds in memory.
const LINE_LENGTH_MAX: u64 = 64 << 20;
/// The maximum length of a socket's path. Linux accepts 107 bytes, other systems 103.
const PATH_LENGTH_MAX: usize = 100;

/// The request of a command.
#[derive(Serialize, Deserialize)]
struct CommandRequest {
    /// The version of the program that sends the command. Another version might interpret the command differently.
    version: String,
    /// The database that the command is for. The running `serve` may use another one.
    database: PathBuf,
    /// The user who issued the command.
    by: Option<String>,
    command: Command,
}

/// The part of a request that all versions can read.
#[derive(Deserialize)]
struct RequestVersion {
    version: Option<String>,
}

/// The reply to a request.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Reply {
    /// The command ran.
    Done(CommandOutput),
    /// The command was refused or failed, for this reason.
    Refused(String),
    /// The running `serve` uses another database.
    OtherDatabase,
}

/// A path to a file in a folder. It is short enough for a socket address, even if the path of the folder is long.
struct ShortPath {
    path: PathBuf,
    /// Keeps the short path valid.
    _folder: Option<File>,
}

impl ShortPath {
    fn for_file(folder: &Path, name: &str) -> std::io::Result<Self> {
        let path = folder.join(name);
        if path.as_os_str().len() <= PATH_LENGTH_MAX {
            return Ok(Self { path, _folder: None });
        }
        let folder = File::open(folder)?;
        let path = PathBuf::from(format!("/proc/self/fd/{}/{name}", folder.as_raw_fd()));
        Ok(Self { path, _folder: Some(folder) })
    }
}

/// Returns whether a `serve` accepts commands in this data folder.
pub(crate) fn is_service_listening(data_dir: &Path) -> bool {
    ShortPath::for_file(data_dir, SOCKET_NAME).is_ok_and(|socket| UnixStream::connect(&socket.path).is_ok())
}

/// Returns the canonical path of a database file, so that two processes can compare their files.
fn canonical_path(database: &Path) -> PathBuf {
    std::fs::canonicalize(database).unwrap_or_else(|_missing| database.to_owned())
}

#[cfg(test)]
mod tests;
