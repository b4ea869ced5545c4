//! `cargo xtask coverage`: the line coverage of all tests, which must reach a minimum.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use crate::workspace::{Workspace, remove_variables_of_cargo, run_command, string_field};

/// The minimum line coverage of the files in `.cargo/mutants.toml`, in percent.
const CRITICAL_PERCENT_MIN: u64 = 95;
/// The minimum line coverage of all crates, in percent.
const CRATES_PERCENT_MIN: u64 = 85;

/// Deletes earlier profiles, runs all tests with instrumentation, and writes the report to the file `$REPORT`. A killed
/// process may leave an incomplete profile, which is skipped.
const SCRIPT: &str = r#"set -e
environment="$(cargo llvm-cov show-env --export-prefix)"
eval "$environment"
cargo llvm-cov clean --profraw-only
cargo run --quiet --locked --package xtask -- test --postgres-tls
cargo llvm-cov report --failure-mode all --json --summary-only --output-path "$REPORT"
"#;

/// Measure the line coverage of all tests, and fail if it is too low
///
/// The minimum is 95 % for the files in .cargo/mutants.toml, and 85 % for all crates. Needs cargo-llvm-cov and the
/// component llvm-tools of the toolchain. Builds in target/coverage. Takes about 15 minutes on two cores. A service
/// that a test kills records nothing, so the percentages are lower bounds.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Check the report of the last run instead of running the tests
    #[arg(long)]
    last: bool,
}

/// The lines of a group of files.
#[derive(Debug, Default, PartialEq, Eq)]
struct Lines {
    total: u64,
    covered: u64,
}

pub(crate) fn run(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    let target = workspace.target.join("coverage");
    let file = target.join("report.json");
    if !arguments.last {
        let mut script = Command::new("sh");
        script.args(["-c", SCRIPT]).current_dir(&workspace.root);
        remove_variables_of_cargo(&mut script);
        run_command(script.env("CARGO_TARGET_DIR", &target).env("REPORT", &file))?;
    }
    let text = fs::read_to_string(&file).with_context(|| format!("reading {}", file.display()))?;
    let report: Value = serde_json::from_str(&text).with_context(|| format!("reading {}", file.display()))?;
    let mutated = fs::read_to_string(workspace.root.join(".cargo/mutants.toml"))?;
    check_report(&report, &workspace.root, &list_globs(&mutated))
}

/// Prints the line coverage of each group of files. Fails if a group does not reach its minimum.
fn check_report(report: &Value, root: &Path, critical: &[&str]) -> Result<()> {
    let groups: [(&str, &[&str], u64); 3] = [
        ("critical code (the files in .cargo/mutants.toml)", critical, CRITICAL_PERCENT_MIN),
        ("all crates", &["crates/**"], CRATES_PERCENT_MIN),
        ("xtask", &["xtask/**"], 0),
    ];
    let mut too_low = Vec::new();
    for (group, globs, percent_min) in groups {
        let lines = sum_lines(report, root, globs)?;
        println!("{group}: {} of {} lines", lines.percentage(), lines.total);
        if !lines.is_covered(percent_min) {
            too_low.push(format!("{group}: {}, the minimum is {percent_min} %", lines.percentage()));
        }
    }
    ensure!(too_low.is_empty(), "the line coverage is too low: add tests ({})", too_low.join("; "));
    Ok(())
}

impl Lines {
    /// Returns the covered share with one decimal, rounded down.
    fn percentage(&self) -> String {
        let permille = self.covered.saturating_mul(1_000).checked_div(self.total).unwrap_or(0);
        format!("{}.{} %", permille / 10, permille % 10)
    }

    /// Whether at least this percentage of the lines is covered. Without any lines, the percentage is 0.
    fn is_covered(&self, percent_min: u64) -> bool {
        self.covered.saturating_mul(100).checked_div(self.total).unwrap_or(0) >= percent_min
    }
}

/// Returns the globs of files that cargo-mutants changes.
fn list_globs(configuration: &str) -> Vec<&str> {
    let quoted = configuration.lines().filter_map(|line| line.trim().strip_prefix('"')?.strip_suffix("\","));
    quoted.filter(|glob| glob.starts_with("crates/")).collect()
}

/// Sums the lines of the files that match one of the globs, which are paths, or folders followed by `/**`.
fn sum_lines(report: &Value, root: &Path, globs: &[&str]) -> Result<Lines> {
    let files =
        report.pointer("/data/0/files").and_then(Value::as_array).context("no files in the report")?;
    let mut sum = Lines::default();
    for file in files {
        let name = string_field(file, "filename")?;
        let Ok(path) = Path::new(&name).strip_prefix(root) else { continue };
        let is_match = |glob: &&str| path.starts_with(glob.strip_suffix("/**").unwrap_or(glob));
        if globs.iter().any(is_match) {
            let count = |kind: &str| file.pointer(&format!("/summary/lines/{kind}")).and_then(Value::as_u64);
            sum.total += count("count").with_context(|| format!("no number of lines of {name}"))?;
            sum.covered += count("covered").with_context(|| format!("no covered lines of {name}"))?;
        }
    }
    Ok(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the entry of a file, with its number of lines and how many of them are covered.
    fn file(name: &str, count: u64, covered: u64) -> Value {
        let lines = serde_json::json!({"count": count, "covered": covered});
        serde_json::json!({"filename": name, "summary": {"lines": lines}})
    }

    fn report(files: &[Value]) -> Value {
        serde_json::json!({"data": [{"files": files}]})
    }

    #[test]
    fn lines_are_summed_by_group() {
        let report = report(&[
            file("/w/crates/a/src/money/points.rs", 100, 99),
            file("/w/crates/a/src/overrides.rs", 20, 20),
            file("/w/crates/a/src/other.rs", 40, 10),
            file("/rustc/library/core.rs", 7, 0),
        ]);
        let sum = |globs: &[&str]| sum_lines(&report, Path::new("/w"), globs).unwrap();
        let critical = sum(&["crates/a/src/money/**", "crates/a/src/overrides.rs"]);
        assert_eq!(critical, Lines { total: 120, covered: 119 });
        assert_eq!(critical.percentage(), "99.1 %");
        assert_eq!(sum(&["crates/**"]), Lines { total: 160, covered: 129 });
        assert_eq!(sum(&["xtask/**"]).percentage(), "0.0 %");
    }

    #[test]
    fn coverage_below_a_minimum_fails() {
        let check = |critical: u64, other: u64| {
            let files =
                [file("/w/crates/a/src/money.rs", 1_000, critical), file("/w/crates/b.rs", 1_000, other)];
            let result = check_report(&report(&files), Path::new("/w"), &["crates/a/src/money.rs"]);
            result.map_err(|error| error.to_string())
        };
        assert_eq!(check(950, 750), Ok(()));
        let error = check(949, 1_000).unwrap_err();
        assert!(error.contains("critical code") && error.contains("94.9 %, the minimum is 95 %"), "{error}");
        assert!(!error.contains("all crates"), "{error}");
        let error = check(1_000, 699).unwrap_err();
        assert!(error.contains("all crates: 84.9 %, the minimum is 85 %"), "{error}");
        assert!(check_report(&report(&[]), Path::new("/w"), &[]).is_err(), "no file was measured");
    }

    #[test]
    fn the_globs_of_mutated_files_are_read() {
        let configuration = include_str!("../../.cargo/mutants.toml");
        let globs = list_globs(configuration);
        assert_eq!(globs.len(), configuration.matches("\"crates/").count());
        assert!(globs.contains(&"crates/domain/src/money/**"), "{globs:?}");
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        for glob in globs {
            assert!(root.join(glob.trim_end_matches("/**")).exists(), "{glob} matches no file");
        }
    }
}
