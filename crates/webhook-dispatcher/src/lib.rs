#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))] // docs.rs shows which feature enables an item

mod bodies;
mod dispatcher;
mod egress_policy;
mod http_sender;
mod mutex;
mod nonce;
mod schedule;
mod sender;
#[cfg(any(test, feature = "testing"))]
pub mod testing;

pub use bodies::{Bodies, body_schema, render_example};
pub use dispatcher::{
    AttemptResult, ClaimResult, DeliveryStore, Dispatcher, DispatcherLimits, DispatcherObserver, NoObserver,
    PersistentDeliveryStore, RunningDispatcher, StopResult,
};
pub use egress_policy::{
    CallbackUrlError, EgressPolicy, HostResolver, SystemResolver, check_callback_url, is_public,
};
pub use http_sender::{HttpSender, HttpSenderError, HttpSenderLimits, HttpSenderParts, TrustedRoots};
pub use nonce::{NoRandomness, NonceSource, SystemNonces};
pub use schedule::RetrySchedule;
pub use sender::{
    AttemptOutcome, DecryptSecrets, DeliveryRequest, EventSender, SharedSecrets, UnreadableSecret,
};
