//! Tests of the public interface: in virtual time, with folders, and over real connections.

#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod aiosmtpd;
mod batches;
mod encoded_message;
mod folder;
mod running;
mod schedule;
mod smtp;
mod smtp_faults;
mod smtp_tls;
mod support;
