//! Sends generated requests to both databases, which must give the same responses, and compares each database with a
//! model and with the histories of concurrent clients.
//!
//! Runs the tests that do so, with more operations and other seeds than in a test run. On SQLite, only the tests with
//! the model and the histories run; on PostgreSQL, the comparison of both databases takes half of the time.

use anyhow::{Context, Result};

use super::context::Setup;
use super::repeated_tests::{RepeatedTests, TestEnvironment};
use super::report::{Measurement, Report};
use crate::measurement::service::Database;

const COMPARISON: RepeatedTests = RepeatedTests {
    program: "e2e",
    filter: "differential::both_databases_give_the_same_responses_to_generated_requests",
    seed_variable: Some("DIFFERENTIAL_SEED"),
    operations: Some(("DIFFERENTIAL_REQUESTS", 5_000)),
    is_optimized: false,
    needs_both_databases: true,
};
const HISTORY: RepeatedTests = RepeatedTests {
    program: "suite",
    filter: "history::every_operation_of_a_concurrent_history_can_be_explained",
    seed_variable: Some("HISTORY_SEED"),
    operations: Some(("HISTORY_OPERATIONS", 20_000)),
    is_optimized: true,
    needs_both_databases: false,
};
const MODEL: RepeatedTests = RepeatedTests {
    program: "suite",
    filter: "model::",
    seed_variable: Some("MODEL_SEED"),
    operations: Some(("MODEL_OPERATIONS", 20_000)),
    is_optimized: true,
    needs_both_databases: false,
};

pub(super) fn run(setup: &Setup<'_>) -> Result<Report> {
    let environment = TestEnvironment::start(setup)?;
    let parts: &[(&str, &RepeatedTests, u32)] = match setup.database {
        Database::Sqlite => {
            &[("operations in histories", &HISTORY, 2), ("compared with the model", &MODEL, 2)]
        }
        Database::Postgres => &[
            ("requests to both databases", &COMPARISON, 2),
            ("operations in histories", &HISTORY, 4),
            ("compared with the model", &MODEL, 4),
        ],
    };
    let mut report = Report::default();
    for (name, tests, share) in parts {
        let runs = environment.repeat_for(setup.duration / *share, tests).context(*name)?;
        report.operations += runs.operations;
        let value = format!("{} with {} seeds", runs.operations, runs.runs);
        report.measurements.push(Measurement::without_bound(*name, value));
    }
    Ok(report)
}
