//! Sends commands to a running `serve`.

use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use super::{CommandRequest, LINE_LENGTH_MAX, Reply, SOCKET_NAME, ShortPath, canonical_path};
use crate::commands::{Command, CommandOutput, RunnableCommand as _};
use crate::platform::build_info::VERSION;
use crate::platform::user;

const SEND_TIMEOUT: Duration = Duration::from_secs(10);
/// How long to wait for the reply to a command, and to a command that may take long.
const REPLY_TIMEOUT: Duration = Duration::from_secs(60);
const LONG_REPLY_TIMEOUT: Duration = Duration::from_secs(3_600);

/// The outcome of sending a command.
#[derive(Debug)]
pub(crate) enum SendOutcome {
    /// No `serve` runs on this database: the caller may open it.
    NotServed,
    /// The command ran.
    Done(CommandOutput),
    /// The command was refused or failed, for this reason.
    Refused(String),
    /// The request was not received completely; the command did not run.
    NotRun,
    /// The connection ended without a reply: the command may have run.
    Disconnected,
    /// No reply came in this time: the command may still be running.
    NoReply(Duration),
}

/// Sends a command to the `serve` that runs on this data folder and database, and waits for its reply.
pub(crate) fn send_command(data_dir: &Path, database: &Path, command: &Command) -> SendOutcome {
    let Ok(socket) = ShortPath::for_file(data_dir, SOCKET_NAME) else { return SendOutcome::NotServed };
    let Ok(stream) = UnixStream::connect(&socket.path) else { return SendOutcome::NotServed };
    let request = CommandRequest {
        version: VERSION.to_owned(),
        database: canonical_path(database),
        by: user::current_user(),
        command: command.clone(),
    };
    let mut line = match serde_json::to_vec(&request) {
        Ok(line) => line,
        Err(cause) => {
            return SendOutcome::Refused(format!(
                "cannot send the command to the running `guerdon serve`: {cause}; the path of the database ({}) and \
                 all paths in the command must be UTF-8",
                request.database.display()
            ));
        }
    };
    line.push(b'\n');
    if u64::try_from(line.len()).is_ok_and(|length| length > LINE_LENGTH_MAX) {
        return SendOutcome::Refused(
            "the command is larger than 64 MiB, the limit of a running `guerdon serve`: import without \
             --atomic, or in parts"
                .to_owned(),
        );
    }
    // A request without its final line feed is never run.
    let sent = stream.set_write_timeout(Some(SEND_TIMEOUT)).and_then(|()| (&stream).write_all(&line));
    if sent.is_err() {
        return SendOutcome::NotRun;
    }
    let timeout = if command.may_take_long() { LONG_REPLY_TIMEOUT } else { REPLY_TIMEOUT };
    match read_reply(&stream, timeout) {
        Ok(Reply::Done(output)) => SendOutcome::Done(output),
        Ok(Reply::Refused(why)) => SendOutcome::Refused(why),
        Ok(Reply::OtherDatabase) => SendOutcome::NotServed,
        Err(cause) if matches!(cause.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
            SendOutcome::NoReply(timeout)
        }
        Err(_cause) => SendOutcome::Disconnected,
    }
}

fn read_reply(stream: &UnixStream, timeout: Duration) -> std::io::Result<Reply> {
    stream.set_read_timeout(Some(timeout))?;
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line)?;
    Ok(serde_json::from_str(&line)?)
}
