#![doc = include_str!("../README.md")]

mod api;
mod arrival;
mod description;
mod endpoints;
mod entrance;
mod log_throttle;
mod operation;
mod pulse;
mod traffic;

pub use api::{Api, ConnectionLimits, Gate, Limits, NOT_FOUND_PATH, Page, Sunset, Transport, VerifySecret};
pub use description::{Webhook, openapi};
pub use endpoints::{ROUTES, Route};
pub use entrance::{Listening, listen};
pub use pulse::Pulse;
pub use traffic::{Answers, Traffic};
