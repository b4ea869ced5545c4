//! Reads the body of a request and parses it into a command (behaviour 2.2, 2.3, 2.4).

mod bytes;
mod command;

pub(crate) use bytes::{ReceivedBody, read_body, require_json};
pub(crate) use command::{ParsedCommand, parse_command};
