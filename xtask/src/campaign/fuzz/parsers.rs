//! Runs libFuzzer on each parser.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::thread::ScopedJoinHandle;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, ensure};

use crate::campaign::context::Setup;
use crate::campaign::report::{Measurement, Report};
use crate::workspace::{command_output, list_subfolders, run_command};

const FUZZER_VERSION: &str = "0.13.2";
/// How long one input may take, including waits. The processor time of each input is limited by the properties.
const INPUT_SECONDS_MAX: u32 = 2;
/// The maximum size of an input. It exceeds the longest body of interest, which contains a certificate.
const INPUT_BYTES_MAX: u32 = 8 << 10;
const MEMORY_MIB_MAX: u32 = 1_024;

/// Builds the fuzzer, and fuzzes each parser for an equal share of the time, one parser on each processor.
pub(super) fn run(setup: &Setup<'_>, duration: Duration) -> Result<Report> {
    let fuzz = setup.workspace.root.join("xtask").join("fuzz");
    let program = build_fuzzer(&fuzz, &setup.workspace.target.join("fuzz"))?;
    let corpora = list_subfolders(&fuzz.join("corpus"))?;
    let processors = std::thread::available_parallelism()?.get();
    let share = duration / u32::try_from(corpora.len().div_ceil(processors).max(1))?;
    let waiting = Mutex::new(corpora.iter());
    let fuzz_waiting = || {
        let mut measured = Vec::new();
        while let Some(corpus) = next_corpus(&waiting) {
            measured.push(fuzz_parser(setup, &program, corpus, share)?);
        }
        anyhow::Ok(measured)
    };
    let measured = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..processors).map(|_| scope.spawn(fuzz_waiting)).collect();
        let join =
            |thread: ScopedJoinHandle<'_, _>| thread.join().map_err(|_panic| anyhow!("a thread panicked"))?;
        threads.into_iter().map(join).collect::<Result<Vec<_>>>()
    })?;
    let mut report = Report::default();
    for (executions, measurement) in measured.into_iter().flatten() {
        report.operations += executions;
        report.measurements.push(measurement);
    }
    Ok(report)
}

/// Takes the corpus of the next parser to fuzz.
fn next_corpus<'a>(waiting: &Mutex<impl Iterator<Item = &'a PathBuf>>) -> Option<&'a PathBuf> {
    waiting.lock().unwrap_or_else(PoisonError::into_inner).next()
}

fn build_fuzzer(fuzz: &Path, target: &Path) -> Result<PathBuf> {
    let is_installed = command_output(Command::new("cargo").args(["fuzz", "--version"])).is_ok();
    ensure!(is_installed, "install the fuzzer: cargo install cargo-fuzz --version {FUZZER_VERSION} --locked");
    let mut build = Command::new("cargo");
    // Coverage without a sanitizer builds on the stable toolchain; the code is safe Rust.
    build.args(["fuzz", "build", "--sanitizer", "none", "--fuzz-dir", ".", "--target-dir"]).arg(target);
    run_command(build.env("RUSTC_BOOTSTRAP", "1").current_dir(fuzz))?;
    let mut programs =
        list_subfolders(target)?.into_iter().map(|platform| platform.join("release").join("parser"));
    programs.find(|program| program.is_file()).context("the fuzzer was not built")
}

/// Fuzzes the parser of this corpus. Returns the number of executions, and whether all properties held.
///
/// Inputs that reach new code are kept in `target/fuzz/inputs`, from which the next campaign continues. An input that
/// breaks a property is written to `xtask/fuzz/artifacts`.
fn fuzz_parser(
    setup: &Setup<'_>,
    program: &Path,
    corpus: &Path,
    duration: Duration,
) -> Result<(usize, Measurement)> {
    let parser = corpus.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let inputs = setup.workspace.target.join("fuzz").join("inputs").join(&parser);
    let artifacts = setup.workspace.root.join("xtask").join("fuzz").join("artifacts").join(&parser);
    std::fs::create_dir_all(&inputs)?;
    std::fs::create_dir_all(&artifacts)?;
    let mut fuzzer = Command::new(program);
    fuzzer.env("FUZZ_PARSER", &parser).arg(inputs).arg(corpus);
    fuzzer.args([
        format!("-artifact_prefix={}/", artifacts.display()),
        format!("-max_total_time={}", duration.as_secs().max(1)),
        format!("-seed={}", setup.seed),
        format!("-timeout={INPUT_SECONDS_MAX}"),
        format!("-max_len={INPUT_BYTES_MAX}"),
        format!("-rss_limit_mb={MEMORY_MIB_MAX}"),
        "-print_final_stats=1".to_owned(),
    ]);
    let output = fuzzer.output().context("starting the fuzzer")?;
    let log = String::from_utf8_lossy(&output.stderr);
    let executions = count_executions(&log).unwrap_or_default();
    let measurement = if output.status.success() && executions > 0 {
        Measurement::without_bound(format!("executions of {parser}"), executions.to_string())
    } else {
        Measurement::failure(&anyhow!("{parser}: {}", describe_crash(&log)))
    };
    Ok((executions, measurement))
}

/// Returns the number of executions in libFuzzer's final statistics.
fn count_executions(log: &str) -> Option<usize> {
    let line = log.lines().find_map(|line| line.strip_prefix("stat::number_of_executed_units:"))?;
    line.trim().parse().ok()
}

/// Returns the lines of libFuzzer's output that say which property does not hold, and for which input.
fn describe_crash(log: &str) -> String {
    let is_relevant = |line: &&str| {
        ["panicked at", "ERROR: libFuzzer", "Test unit written to"].iter().any(|part| line.contains(part))
    };
    let mut lines = log.lines();
    let mut found = Vec::new();
    while let Some(line) = lines.find(is_relevant) {
        found.push(line);
        found.extend(line.contains("panicked at").then(|| lines.next()).flatten());
    }
    if found.is_empty() { log.lines().last().unwrap_or_default().to_owned() } else { found.join("; ") }
}

#[cfg(test)]
mod tests {
    use super::{count_executions, describe_crash};

    #[test]
    fn executions_and_crashes_are_read_from_the_output_of_the_fuzzer() {
        let log = "#2\tINITED\nthread 'main' panicked at src/values.rs:1:1:\n\"a\" is shown as b\nnote: run\n\
                   ==1== ERROR: libFuzzer: deadly signal\nTest unit written to ./crash-1\n\
                   stat::number_of_executed_units: 1234\n";
        assert_eq!(count_executions(log), Some(1_234));
        let crash = describe_crash(log);
        assert!(crash.contains("\"a\" is shown as b") && crash.ends_with("written to ./crash-1"), "{crash}");
        assert_eq!(count_executions("no statistics"), None);
    }
}
