//! Event bodies as receivers parse them, and the sender against receivers on real sockets.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod bodies;
mod sending;
