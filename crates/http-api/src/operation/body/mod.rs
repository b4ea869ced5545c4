//! Reads the body of a request and parses it into the input of an operation (behaviour 2.2, 2.3, 2.4).

mod bytes;
mod input;

pub(crate) use bytes::{ReceivedBody, read_body, require_json};
pub(crate) use input::{ParsedInput, parse_input};
