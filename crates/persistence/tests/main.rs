//! The store's contract, on every database: one suite.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod deliveries;
mod fairness;
mod ledger;
mod migrations;
mod owners;
mod plans;
mod races;
mod redemptions;
mod schedules;
mod size;
mod steps;
mod support;
mod unit_of_work;
