//! What every request passes between the socket and the routes, in this order:
//!
//! - [`server`] opens the port; `connections` limits connections (with `pace`), and `placed` is the stream of one;
//! - `receive_budget` limits the memory of clients without credentials;
//! - `framing` reads requests strictly, and `session` keeps connections between requests;
//! - `envelope` gives each request its id and each response its headers, with the help of `unread` (discards the rest of a
//!   body), `compression`, `preferences` (renders errors as the client prefers), `health` and `pages`;
//! - `admission` checks credentials and limits.

mod admission;
mod compression;
mod connections;
mod envelope;
mod framing;
mod health;
mod pace;
mod pages;
mod placed;
mod preferences;
mod receive_budget;
mod server;
mod session;
mod unread;

pub(crate) use preferences::Problem;
pub use server::{Listening, listen};
