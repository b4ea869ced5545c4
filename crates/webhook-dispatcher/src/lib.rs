//! # guerdon-webhook-dispatcher
//!
//! What providers are told of, and how it reaches them (spec §6, contract §8).
//!
//! `bodies/` renders events to the bytes that will be signed and sent. They are made once, in the transaction of the
//! event's cause, and kept; every attempt sends the same ones. So a body never depends on when or how often it is
//! sent, and the domain knows no JSON. To add an event kind: give it a file under `bodies/` with a struct whose fields
//! stand in the spec's order, a method of [`EventBodies`](guerdon_domain::ports::EventBodies), and a test with its
//! exact bytes.
//!
//! `dispatcher/` claims due events from the store, has them sent, and settles what came of it: a [`Dispatcher`] is put
//! together, started, and stopped. What it decides stands in `dispatcher/core/`, without a thread or a clock, and is
//! tested in virtual time; `claimer.rs`, `senders.rs` and `settler.rs` are the threads around it. `schedule.rs` is the
//! eleven attempts.
//!
//! `testing/`, behind the feature of that name, is one suite of what every [`Journal`] must do. The one in memory that
//! the tests here play with passes it, and so does the one over each database, in the server's tests.
//!
//! `sender/` makes one attempt, by ureq: signed ([`sign`]), limited in time and size, with nothing followed and nothing
//! guessed. `guard/` decides where it may go ([`check_url`], [`Policy`]).
//!
//! **Invariants**
//!
//! - Nothing committed is lost: an event is held under a lease that ends by itself, and is forgotten only once its
//!   settlement is durable. A settlement that cannot be written is kept and written again.
//! - A settlement may have been written although its answer was lost. Written again it counts no attempt twice and
//!   undoes no replay, whoever has claimed its event meanwhile.
//! - An attempt counts as in flight until its settlement is durable. A provider has at most
//!   [`in_flight_per_provider`](DispatcherLimits::in_flight_per_provider) of them in each process, so at most so many of
//!   its events are sent twice when a process dies.
//! - No retry comes early: its wait counts from the end of the attempt before, and is rounded up.
//! - Only status 200 confirms. Every attempt ends within its 15 seconds, whatever the receiver does.
//! - ureq connects to nothing but addresses that were vetted for this very attempt, kept connections included.
//! - No lock is held during I/O, and no receiver that hangs holds a sender that another one needs.
//! - No secret, no body and no URL stands in a log line or in the cause of a failure.
//!
//! **Receiving events.** A receiver written in Rust can use this crate. It gives [`verify`] the callback URL exactly as
//! it was registered, the values of three headers and the raw body, before it parses anything:
//!
//! ```
//! use guerdon_webhook_dispatcher::{Delivery, SeenNonces, sign, verify};
//! use time::macros::datetime;
//!
//! let (url, body) = ("https://example.com/hook", br#"{"type":"redemption.created"}"#);
//! let (timestamp, nonce) = ("2026-11-20T20:01:02.345Z", "9f86d081884c7d659a2feaa0c55ad015");
//! let signature = sign("the shared secret", url, timestamp, nonce, body);
//!
//! let delivery = Delivery { url, timestamp, nonce, signature: &signature, body };
//! let now = datetime!(2026-11-20 20:01:03 UTC); // the receiver's clock
//! let mut seen = SeenNonces::default(); // kept between deliveries
//!
//! assert!(verify("the shared secret", &delivery, now).is_ok());
//! assert!(seen.remember(&delivery, now).is_ok());
//!
//! assert!(verify("another secret", &delivery, now).is_err());
//! assert!(seen.remember(&delivery, now).is_err(), "it came before");
//! ```
//!
//! It answers 200 once it has kept the event, and handles each `X-Service-Event-Id` once: delivery is at least once,
//! and in no promised order.

mod bodies;
mod courier;
mod dispatcher;
mod guard;
mod hex;
mod nonce;
mod schedule;
mod sender;
mod signature;
#[cfg(any(test, feature = "testing"))]
pub mod testing;

pub use bodies::Bodies;
pub use courier::{Courier, OpenSecret, Order, Outcome, UnreadableSecret};
pub use dispatcher::{
    AttemptResult, Dispatcher, DispatcherLimits, Due, Journal, NoObserver, Observer, Running, Stopped,
    StoreJournal, Wake,
};
pub use guard::{LookUp, Policy, SystemLookUp, UrlRefused, check_url, is_public};
pub use nonce::{NoRandomness, Nonces, SystemNonces};
pub use schedule::Schedule;
pub use sender::{Sender, SenderLimits, SenderParts, SetupError, TrustedRoots};
pub use signature::{Delivery, REPLAY_WINDOW, SeenNonces, VerifyError, sign, verify, verify_within};
