//! The middleware that handles every request between the socket and the routes, in this order:
//!
//! - [`server`] opens the port; `connections` limits connections (with `gcra`), and `counted_stream` is the stream of a
//!   connection;
//! - `receive_budget` limits the memory of clients without credentials;
//! - `framing` reads requests strictly, and `session` keeps connections between requests;
//! - `envelope` gives each request its id and each response its headers, with the help of `drain_body` (discards the
//!   rest of a body), `compression`, `problem_details` (renders errors as the client prefers), `request_log`, `health`
//!   and `pages`;
//! - `admission` checks credentials and limits.

mod admission;
mod compression;
mod connections;
mod counted_stream;
mod drain_body;
mod envelope;
mod framing;
mod gcra;
mod health;
mod pages;
mod problem_details;
mod receive_budget;
mod request_log;
mod server;
mod session;
#[cfg(feature = "testing")]
pub(crate) mod testing;

pub use server::{ConnectionCount, ListeningServer, listen};
