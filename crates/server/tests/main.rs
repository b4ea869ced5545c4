//! End-to-end tests of the service: the real binary, over TLS, on every database.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod authorization;
mod backups;
mod bad_input;
mod cells;
mod client;
mod client_operations;
mod commands;
mod company_moves;
mod console;
mod crash;
mod delivery_store;
mod differential;
mod distributions;
mod docs_pages;
mod error_examples;
mod events;
mod examples;
mod exposure;
mod extensions;
mod external_projects;
mod failed_requests;
mod fairness;
mod framing;
mod graceful_shutdown;
mod idempotency;
mod imports;
mod listen;
mod load_balancers;
mod long_term_operation;
mod mail;
mod memory;
mod offline_commands;
mod paused_process;
mod problem_details;
mod readiness;
mod rules;
mod sandbox;
mod support;
mod transport;
mod unauthenticated_clients;
mod walk;
