//! The service as its users meet it: the real binary, over TLS, on every database.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod authorization;
mod commands;
mod crash;
mod idempotency;
mod requests;
mod rules;
mod slice;
mod stop;
mod support;
mod transport;
