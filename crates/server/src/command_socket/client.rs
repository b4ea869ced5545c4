//! The side of the command.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use super::{Reply, Request, SOCKET, ShortPath, one_name};
use crate::commands::{Command, Output};

const SEND_WITHIN: Duration = Duration::from_secs(10);

/// What became of a command.
#[derive(Debug)]
pub(crate) enum Sent {
    /// Nobody serves this database here: the command may open it itself.
    Nobody,
    /// It ran there.
    Done(Output),
    /// It was refused there.
    Refused(String),
    /// It was sent, and the answer did not come: it may have run.
    Lost,
}

/// Hands a command to the `serve` that runs on this data folder and database.
pub(crate) fn send(data_dir: &Path, database: &Path, command: &Command) -> Sent {
    let Ok(way) = ShortPath::to(data_dir, SOCKET) else { return Sent::Nobody };
    let Ok(stream) = UnixStream::connect(&way.path) else { return Sent::Nobody };
    let request = Request { database: one_name(database), command: command.clone() };
    let Ok(mut line) = serde_json::to_vec(&request) else { return Sent::Nobody };
    line.push(b'\n');
    match exchange(stream, &line) {
        Ok(Reply::Done(output)) => Sent::Done(output),
        Ok(Reply::Refused(why)) => Sent::Refused(why),
        Ok(Reply::Elsewhere) => Sent::Nobody,
        Err(_cause) => Sent::Lost,
    }
}

/// Waits for the answer as long as it takes: the command runs, and its end is what the operator wants to know.
fn exchange(stream: UnixStream, line: &[u8]) -> std::io::Result<Reply> {
    stream.set_write_timeout(Some(SEND_WITHIN))?;
    (&stream).write_all(line)?;
    let mut answer = String::new();
    BufReader::new(&stream).read_line(&mut answer)?;
    Ok(serde_json::from_str(&answer)?)
}
