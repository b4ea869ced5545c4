//! Sends commands to a running `serve`.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use super::{Reply, Request, SOCKET, ShortPath, canonical_path};
use crate::commands::{Command, Output, Runnable as _};
use crate::platform::build_info::VERSION;
use crate::platform::user;

const SEND_WITHIN: Duration = Duration::from_secs(10);
/// How long to wait for the reply to most commands, and to one that may take long.
const REPLY_WITHIN: Duration = Duration::from_secs(60);
const LONG_REPLY_WITHIN: Duration = Duration::from_secs(3_600);

/// The outcome of sending a command.
#[derive(Debug)]
pub(crate) enum Sent {
    /// No `serve` runs on this database: the caller may open it.
    NotServed,
    /// The command ran.
    Done(Output),
    /// The command was refused.
    Refused(String),
    /// The request was not received completely; the command did not run.
    NotRun,
    /// The request was received, but no reply came: the command may have run.
    Unknown,
}

/// Sends a command to the `serve` that runs on this data folder and database, and waits for its reply.
pub(crate) fn send_command(data_dir: &Path, database: &Path, command: &Command) -> Sent {
    let Ok(short) = ShortPath::to(data_dir, SOCKET) else { return Sent::NotServed };
    let Ok(stream) = UnixStream::connect(&short.path) else { return Sent::NotServed };
    let request = Request {
        version: VERSION.to_owned(),
        database: canonical_path(database),
        by: user::current_user(),
        command: command.clone(),
    };
    let Ok(mut line) = serde_json::to_vec(&request) else { return Sent::NotServed };
    line.push(b'\n');
    // A request without its final line feed is never run.
    let sent = stream.set_write_timeout(Some(SEND_WITHIN)).and_then(|()| (&stream).write_all(&line));
    if sent.is_err() {
        return Sent::NotRun;
    }
    match read_reply(&stream, if command.may_take_long() { LONG_REPLY_WITHIN } else { REPLY_WITHIN }) {
        Ok(Reply::Done(output)) => Sent::Done(output),
        Ok(Reply::Refused(why)) => Sent::Refused(why),
        Ok(Reply::Elsewhere) => Sent::NotServed,
        Err(_cause) => Sent::Unknown,
    }
}

fn read_reply(stream: &UnixStream, within: Duration) -> std::io::Result<Reply> {
    stream.set_read_timeout(Some(within))?;
    let mut answer = String::new();
    BufReader::new(stream).read_line(&mut answer)?;
    Ok(serde_json::from_str(&answer)?)
}
