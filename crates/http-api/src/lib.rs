#![doc = include_str!("../README.md")]

mod api;
mod description;
mod endpoints;
mod failed_request_buffer;
mod feed_signal;
mod health;
mod log_throttle;
mod middleware;
mod mutex;
mod operation;
mod request_info;
mod request_statistics;
#[cfg(feature = "testing")]
pub mod testing;

pub use api::{
    Api, ConnectionLimits, NOT_FOUND_PATH, PublicPage, RateLimits, SecretVerifier, ServiceState, Sunset,
    Transport,
};
pub use description::{Webhook, openapi};
pub use endpoints::{ROUTES, Route};
pub use failed_request_buffer::FailedRequestBuffer;
pub use feed_signal::FeedSignal;
pub use health::DatabaseHealth;
pub use middleware::{ConnectionCount, ListeningServer, listen};
pub use request_statistics::{RequestCounts, RequestStatistics};
