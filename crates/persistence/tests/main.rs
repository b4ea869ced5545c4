//! Tests of the store on every database, in one test binary.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod audit;
mod audit_log;
mod batches;
mod company_archive;
mod contract;
mod cycles;
mod deliveries;
#[cfg(feature = "postgres-tls")]
mod encryption;
mod failed_requests;
mod failpoints;
mod fairness;
mod feed;
mod history;
mod journal;
mod ledger;
mod migrations;
mod model;
mod moves;
mod notifications;
mod owners;
mod plans;
mod poolers;
mod races;
mod redemptions;
mod replays;
mod retention;
mod schedules;
mod schemas;
mod size;
mod statements;
mod statistics;
mod steps;
mod support;
mod unit_of_work;
