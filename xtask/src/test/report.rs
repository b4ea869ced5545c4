//! What `cargo xtask test` prints after the tests: times, and what the tests wrote to the tally file.
//!
//! A line of the tally is `database sqlite`, `database postgres` or `skip <test>: <reason>`.

use std::collections::BTreeMap;
use std::time::Duration;

use super::suites::FinishedSuite;

/// How many slow tests are printed.
const SLOWEST_TESTS: usize = 10;

/// The time that each test took, from the output of its program: `test name ... ok <1.234s>`.
fn test_times(output: &str) -> Vec<(Duration, &str)> {
    let times = output.lines().filter_map(|line| {
        let (name, result) = line.strip_prefix("test ")?.split_once(" ... ")?;
        let (_, time) = result.rsplit_once('<')?;
        let seconds = time.strip_suffix("s>")?.parse().ok()?;
        Some((Duration::try_from_secs_f64(seconds).ok()?, name))
    });
    times.collect()
}

/// Whether a line holds the result of a test.
fn is_result(line: &str) -> bool {
    line.starts_with("test ") && line.contains(" ... ")
}

/// A table of the suites that ran tests, and of the slowest tests, slowest first.
pub(super) fn format_times(suites: &[FinishedSuite]) -> String {
    let mut by_time: Vec<&FinishedSuite> = suites.iter().collect();
    by_time.sort_by_key(|suite| std::cmp::Reverse(suite.duration));
    let mut tests: Vec<(Duration, &str, &str)> = Vec::new();
    let mut out = "Time of each suite:\n".to_owned();
    for suite in by_time {
        let count = suite.output.lines().filter(|line| is_result(line)).count();
        if count > 0 || !suite.is_passed {
            let noun = if count == 1 { "test" } else { "tests" };
            out.push_str(&format!(
                "{:>8.1} s  {} ({count} {noun})\n",
                suite.duration.as_secs_f64(),
                suite.name
            ));
        }
        let times = test_times(&suite.output).into_iter();
        tests.extend(times.map(|(time, test)| (time, suite.name.as_str(), test)));
    }
    tests.sort_by_key(|(time, ..)| std::cmp::Reverse(*time));
    out.push_str("Slowest tests:\n");
    for (time, suite, test) in tests.iter().take(SLOWEST_TESTS) {
        out.push_str(&format!("{:>8.1} s  {suite}: {test}\n", time.as_secs_f64()));
    }
    out
}

/// How many databases of a kind the tests opened.
pub(super) fn count_databases(tally: &str, kind: &str) -> usize {
    tally.lines().filter(|line| line.strip_prefix("database ") == Some(kind)).count()
}

/// A line for each reason for which tests were skipped, with the names of the tests.
pub(super) fn format_skipped(tally: &str) -> String {
    let mut by_reason: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let skips = tally.lines().filter_map(|line| line.strip_prefix("skip ")?.split_once(": "));
    skips.for_each(|(test, reason)| by_reason.entry(reason).or_default().push(test));
    let lines = by_reason.into_iter().map(|(reason, mut tests)| {
        tests.sort_unstable();
        tests.dedup();
        let noun = if tests.len() == 1 { "test" } else { "tests" };
        format!("Skipped: {} {noun}, because {reason}: {}\n", tests.len(), tests.join(", "))
    });
    lines.collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{count_databases, format_skipped, format_times, test_times};
    use crate::test::suites::FinishedSuite;

    const OUTPUT: &str = "running 3 tests\ntest a::slow ... ok <12.500s>\ntest b ... FAILED <0.001s>\n\
        test c ... ignored\n\ntest result: FAILED. 1 passed; 1 failed";

    #[test]
    fn times_are_read_from_the_output_of_a_test_program() {
        let expected = [(Duration::from_millis(12_500), "a::slow"), (Duration::from_millis(1), "b")];
        assert_eq!(test_times(OUTPUT), expected);
    }

    #[test]
    fn suites_and_tests_are_listed_slowest_first() {
        let suite = |name: &str, seconds, output: &str| FinishedSuite {
            name: name.to_owned(),
            output: output.to_owned(),
            duration: Duration::from_secs(seconds),
            is_passed: true,
        };
        let listed = format_times(&[suite("quick", 1, "test x ... ok <20.0s>"), suite("slow", 13, OUTPUT)]);
        let names: Vec<&str> =
            listed.lines().filter_map(|line| line.split_once(" s  ")).map(|columns| columns.1).collect();
        assert_eq!(names, ["slow (3 tests)", "quick (1 test)", "quick: x", "slow: a::slow", "slow: b"]);
    }

    #[test]
    fn the_tally_counts_databases_and_skipped_tests() {
        let tally = "database sqlite\nskip b: nginx is missing\ndatabase sqlite\nskip a: nginx is missing\n\
            skip a: nginx is missing\nskip c: node is missing\n";
        assert_eq!((count_databases(tally, "sqlite"), count_databases(tally, "postgres")), (2, 0));
        let expected = "Skipped: 2 tests, because nginx is missing: a, b\n\
            Skipped: 1 test, because node is missing: c\n";
        assert_eq!(format_skipped(tally), expected);
    }
}
