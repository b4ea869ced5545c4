//! The side of the command.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use super::{Reply, Request, SOCKET, ShortPath, one_name};
use crate::commands::{Command, Output, Runnable as _};
use crate::platform::build_info::VERSION;
use crate::platform::user;

const SEND_WITHIN: Duration = Duration::from_secs(10);
/// A command that is soon done is not waited for any longer, nor is one that may take long.
const SOON: Duration = Duration::from_secs(60);
const LONG: Duration = Duration::from_secs(3_600);

/// What became of a command.
#[derive(Debug)]
pub(crate) enum Sent {
    /// Nobody serves this database here: the command may open it itself.
    Nobody,
    /// It ran there.
    Done(Output),
    /// It was refused there.
    Refused(String),
    /// It did not come there whole.
    NotRun,
    /// It came there, and no answer came back: nobody knows whether it ran.
    Unknown,
}

/// Hands a command to the `serve` that runs on this data folder and database.
pub(crate) fn send(data_dir: &Path, database: &Path, command: &Command) -> Sent {
    let Ok(way) = ShortPath::to(data_dir, SOCKET) else { return Sent::Nobody };
    let Ok(stream) = UnixStream::connect(&way.path) else { return Sent::Nobody };
    let request = Request {
        version: VERSION.to_owned(),
        database: one_name(database),
        by: user::name(),
        command: command.clone(),
    };
    let Ok(mut line) = serde_json::to_vec(&request) else { return Sent::Nobody };
    line.push(b'\n');
    // What is not there to its line feed is never run.
    let sent = stream.set_write_timeout(Some(SEND_WITHIN)).and_then(|()| (&stream).write_all(&line));
    if sent.is_err() {
        return Sent::NotRun;
    }
    match answer(&stream, if command.may_take_long() { LONG } else { SOON }) {
        Ok(Reply::Done(output)) => Sent::Done(output),
        Ok(Reply::Refused(why)) => Sent::Refused(why),
        Ok(Reply::Elsewhere) => Sent::Nobody,
        Err(_cause) => Sent::Unknown,
    }
}

fn answer(stream: &UnixStream, within: Duration) -> std::io::Result<Reply> {
    stream.set_read_timeout(Some(within))?;
    let mut answer = String::new();
    BufReader::new(stream).read_line(&mut answer)?;
    Ok(serde_json::from_str(&answer)?)
}
