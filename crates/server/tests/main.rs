//! End-to-end tests of the service: the real binary, over TLS, on every database.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod authorization;
mod bad_input;
mod balancers;
mod client;
mod client_operations;
mod commands;
mod console;
mod copies;
mod crash;
mod differential;
mod distributions;
mod edge;
mod events;
mod examples;
mod extensions;
mod fairness;
mod framing;
mod handbook;
mod idempotency;
mod journal;
mod listen;
mod mail;
mod memory;
mod outside;
mod readiness;
mod rules;
mod sandbox;
mod stop;
mod support;
mod tools;
mod transport;
mod walk;
mod years;
