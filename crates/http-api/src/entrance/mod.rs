//! What every request passes, from the socket to the table of routes: [`server`] takes connections, of which `connections` lets so
//! many in and `receive_budget` bounds the memory that strangers take, `framing` reads them
//! strictly, `session` keeps them between requests, `envelope` gives each request its id and each answer its headers, `unread` ends what a refusal left of a body,
//! `compression` makes answers smaller, `preferences` puts refusals as the client wants them, `admission` lets callers in; `health`
//! is for balancers.

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
