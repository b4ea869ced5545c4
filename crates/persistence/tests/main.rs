//! The store's contract, on every database: one suite.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod audit;
mod ledger;
mod races;
mod size;
mod support;
mod unit_of_work;
