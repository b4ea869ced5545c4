//! The embedded database has one writing process. While `serve` is that process, a command hands itself to it
//! through a Unix socket in the data folder: one JSON line there, one back. Only the same user can open it.

mod client;
mod listener;

use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::commands::{Command, Output};

pub(crate) use client::{Sent, send};
pub(crate) use listener::{CommandHandler, CommandSocket};

const SOCKET: &str = "guerdon.sock";
/// A socket's path is cut at 107 bytes on Linux, at 103 elsewhere.
const PATH_LENGTH_MAX: usize = 100;

/// What a command sends.
#[derive(Serialize, Deserialize)]
struct Request {
    /// That of the command. An older or newer one may mean something else by the same words.
    version: String,
    /// The database it means; the running `serve` may have another.
    database: PathBuf,
    /// Who gives it, as the system of the command knows.
    by: Option<String>,
    command: Command,
}

/// So much of it can be read of whichever version it is.
#[derive(Deserialize)]
struct Envelope {
    version: Option<String>,
}

/// What it is answered.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Reply {
    /// It ran.
    Done(Output),
    /// It did not, for this reason.
    Refused(String),
    /// The running `serve` has another database.
    Elsewhere,
}

/// A way to a file in a folder that fits into a socket's address, however long the folder's own path is.
struct ShortPath {
    path: PathBuf,
    /// Keeps the way open.
    _folder: Option<File>,
}

impl ShortPath {
    fn to(folder: &Path, name: &str) -> std::io::Result<Self> {
        let path = folder.join(name);
        if path.as_os_str().len() <= PATH_LENGTH_MAX {
            return Ok(Self { path, _folder: None });
        }
        let folder = File::open(folder)?;
        let path = PathBuf::from(format!("/proc/self/fd/{}/{name}", folder.as_raw_fd()));
        Ok(Self { path, _folder: Some(folder) })
    }
}

/// Whether a `serve` takes commands in this data folder.
pub(crate) fn is_served(data_dir: &Path) -> bool {
    ShortPath::to(data_dir, SOCKET).is_ok_and(|way| UnixStream::connect(&way.path).is_ok())
}

/// The one name of a database's file.
fn one_name(database: &Path) -> PathBuf {
    std::fs::canonicalize(database).unwrap_or_else(|_missing| database.to_owned())
}

#[cfg(test)]
mod tests;
