#![doc = include_str!("../README.md")]

mod api;
mod arrival;
mod endpoints;
mod entrance;
mod operation;
mod pulse;

pub use api::{Api, ConnectionLimits, Gate, Limits, Sunset, Transport, VerifySecret};
pub use endpoints::{ROUTES, Route, shown};
pub use entrance::{Listening, listen};
pub use pulse::Pulse;
