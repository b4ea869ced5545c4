//! Tests of the workspace that a campaign repeats with other seeds.

use std::ffi::OsString;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::context::Setup;
use crate::measurement::service::Database;
use crate::postgres::Cluster;

/// The end of the line that reports how many tests passed.
const PASSED: &str = " passed;";

/// Tests in one test program.
pub(super) struct RepeatedTests {
    /// The name of the program, such as `e2e`.
    pub(super) program: &'static str,
    /// The beginning of the names of the tests.
    pub(super) filter: &'static str,
    /// The variable that sets the seed, if the tests are random.
    pub(super) seed_variable: Option<&'static str>,
    /// The variable that sets the number of operations of a run, and the number.
    pub(super) operations: Option<(&'static str, usize)>,
    /// Whether the tests are built like a release. Those that use a store directly are several times as fast then; the
    /// others wait for the service, which is a release anyway.
    pub(super) is_optimized: bool,
    /// Whether one run of the tests covers both databases.
    pub(super) needs_both_databases: bool,
}

/// The environment of tests on one database or on both.
pub(super) struct TestEnvironment<'a> {
    setup: &'a Setup<'a>,
    cluster: Option<Cluster>,
}

/// How often tests ran, and how many passed in all.
#[derive(Default)]
pub(super) struct RepeatedRuns {
    pub(super) runs: usize,
    pub(super) passed: usize,
    pub(super) operations: usize,
}

impl<'a> TestEnvironment<'a> {
    /// Starts PostgreSQL, unless the campaign runs on SQLite.
    pub(super) fn start(setup: &'a Setup<'a>) -> Result<Self> {
        let cluster = match setup.database {
            Database::Sqlite => None,
            Database::Postgres => Some(Cluster::start(setup.workspace)?),
        };
        Ok(Self { setup, cluster })
    }

    /// Runs the tests at least once, and again with other seeds for the duration. Fails if a test fails.
    pub(super) fn repeat_for(&self, duration: Duration, tests: &RepeatedTests) -> Result<RepeatedRuns> {
        self.run_once(tests, self.setup.seed, true)?; // builds them
        let (start, mut all) = (Instant::now(), RepeatedRuns::default());
        for seed in self.setup.seed.. {
            all.passed += self.run_once(tests, seed, false)?;
            all.runs += 1;
            all.operations += tests.operations.map_or(0, |(_, operations)| operations);
            if start.elapsed() >= duration {
                break;
            }
        }
        Ok(all)
    }

    /// Runs the tests, or only builds them. Returns the number of passed tests.
    fn run_once(&self, tests: &RepeatedTests, seed: u64, is_build: bool) -> Result<usize> {
        let mut cargo = self.setup.workspace.workspace_command(&["test", "--quiet"]);
        cargo.args(["--test", tests.program]).args(tests.is_optimized.then_some("--release"));
        cargo.args(is_build.then_some("--no-run"));
        cargo.args(["--", tests.filter, "--nocapture"]);
        cargo.env("TEST_BINARY", self.setup.program).envs(self.databases(tests));
        cargo.envs(tests.seed_variable.map(|name| (name, seed.to_string())));
        cargo.envs(tests.operations.map(|(name, count)| (name, count.to_string())));
        let output = cargo.output().context("starting cargo")?;
        let text = String::from_utf8_lossy(&output.stdout);
        if !output.status.success() {
            bail!("seed {seed}: {}{text}", String::from_utf8_lossy(&output.stderr));
        }
        match count_passed(&text) {
            0 if !is_build => bail!("no test of {} begins with {}", tests.program, tests.filter),
            passed => Ok(passed),
        }
    }

    /// Returns the variables that select the databases of the tests.
    fn databases(&self, tests: &RepeatedTests) -> Vec<(&'static str, OsString)> {
        let only = (!tests.needs_both_databases).then(|| ("TEST_ONLY", self.setup.database.name().into()));
        let url = self.cluster.as_ref().map(|cluster| ("TEST_POSTGRES_URL", cluster.url().into()));
        let programs = self.cluster.as_ref();
        let programs = programs.map(|cluster| ("TEST_POSTGRES_PROGRAMS", cluster.program_folder().into()));
        only.into_iter().chain(url).chain(programs).collect()
    }
}

/// Counts the passed tests of all programs in the output of `cargo test`.
fn count_passed(output: &str) -> usize {
    let counts = output.lines().filter_map(|line| line.strip_prefix("test result: ok. ")?.split_once(PASSED));
    counts.filter_map(|(count, _)| count.parse::<usize>().ok()).sum()
}

#[cfg(test)]
mod tests {
    use super::count_passed;

    #[test]
    fn passed_tests_are_counted_in_all_programs() {
        let output = "\nrunning 2 tests\n..\ntest result: ok. 2 passed; 0 failed; 0 ignored\n\
                      test result: ok. 0 passed; 0 failed\ntest result: ok. 1 passed; 0 failed\n";
        assert_eq!(count_passed(output), 3);
        assert_eq!(count_passed("test result: FAILED. 1 passed; 1 failed"), 0);
    }
}
