//! What an endpoint is, and how it is run: order of checks, transactions, repeats.

mod flights;
mod idempotency;
mod read;
mod write;

pub(crate) use flights::Flights;
pub(crate) use read::{Read, run as run_read};
pub(crate) use write::{Write, run as run_write};
