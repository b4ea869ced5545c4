#![doc = include_str!("../README.md")]

mod admission;
mod answer;
mod api;
mod body;
mod budget;
mod call;
mod companies;
mod connection;
mod corporations;
mod envelope;
mod error;
mod framing;
mod list;
mod occasions;
mod operation;
mod promise;
mod query;
mod recognitions;
mod routes;
mod segments;
mod server;
mod state;
mod users;
mod wire;

pub use api::{Api, Gate, Limits, Transport, VerifySecret};
pub use routes::{ROUTES, Route};
pub use server::{Listening, listen};
