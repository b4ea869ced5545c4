//! What every request passes, from the socket to the table of routes: [`server`] takes connections, `framing` reads them
//! strictly, `envelope` gives each request its id and each answer its headers, `admission` lets callers in.

mod admission;
mod envelope;
mod framing;
mod server;

pub use server::{Listening, listen};
