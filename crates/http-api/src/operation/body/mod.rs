//! The body of a request: bytes, then JSON, then fields, then what they ask for (behaviour 2.2, 2.3, 2.4).

mod bytes;
mod command;

pub(crate) use bytes::{Read, read, require_json};
pub(crate) use command::{Parsed, parse};
