//! The body of a request: bytes, then JSON, then fields (contract §2.1, §2.2).

mod bytes;
mod fields;
mod json;

pub(crate) use bytes::{Read, read, require_json};
pub(crate) use fields::Fields;
