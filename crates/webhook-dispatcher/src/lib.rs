//! # guerdon-webhook-dispatcher
//!
//! What providers are told of: this crate renders events to the bytes that will be signed and sent (spec §6.3,
//! §6.4). The bytes are made once, in the transaction of the event's cause, and kept; every attempt sends the same
//! ones. So a body never depends on when or how often it is sent, and the domain knows no JSON.
//!
//! To add an event kind: give it a file under `bodies/` with a struct whose fields stand in the spec's order, a
//! method of [`EventBodies`](guerdon_domain::ports::EventBodies), and a test with its exact bytes.

mod bodies;

pub use bodies::Bodies;
