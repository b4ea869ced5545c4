//! Calls every route as every kind of caller with every kind of foreign id, in new databases with new ids.

use anyhow::Result;

use super::context::Setup;
use super::repeated_tests::{RepeatedTests, TestEnvironment};
use super::report::{Measurement, Report};

const AUTHORIZATION: RepeatedTests = RepeatedTests {
    program: "e2e",
    filter: "authorization::",
    seed_variable: None,
    operations: None,
    is_optimized: false,
    needs_both_databases: false,
};

pub(super) fn run(setup: &Setup<'_>) -> Result<Report> {
    let runs = TestEnvironment::start(setup)?.repeat_for(setup.duration, &AUTHORIZATION)?;
    let measurements = vec![
        Measurement::without_bound("runs of the authorization matrix", runs.runs.to_string()),
        Measurement::without_bound("passed tests", runs.passed.to_string()),
    ];
    Ok(Report { measurements, operations: runs.passed, ..Report::default() })
}
