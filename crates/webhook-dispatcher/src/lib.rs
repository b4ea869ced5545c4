#![doc = include_str!("../README.md")]

mod bodies;
mod courier;
mod dispatcher;
mod guard;
mod http_courier;
mod nonce;
mod schedule;
#[cfg(any(test, feature = "testing"))]
pub mod testing;

pub use bodies::{Bodies, schema};
pub use courier::{Courier, OpenSecret, Order, Outcome, UnreadableSecret};
pub use dispatcher::{
    AttemptResult, Dispatcher, DispatcherLimits, Journal, Look, NoObserver, Observer, Running, Stopped,
    StoreJournal,
};
pub use guard::{LookUp, Policy, SystemLookUp, UrlRefused, check_url, is_public};
pub use http_courier::{HttpCourier, HttpCourierLimits, HttpCourierParts, SetupError, TrustedRoots};
pub use nonce::{NoRandomness, Nonces, SystemNonces};
pub use schedule::Schedule;
