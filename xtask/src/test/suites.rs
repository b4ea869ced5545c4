//! Builds the test programs of the workspace and runs several of them at once.
//!
//! `cargo test` runs one program after the other, so a program whose tests wait leaves the processors idle. The
//! programs are started here instead, as cargo would start them: in the folder of their package, with its variables.

use std::collections::VecDeque;
use std::fs::File;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::workspace::{Workspace, string_field};

/// A test program, the examples in the documentation, or a step of `cargo xtask ci`.
pub(crate) struct Suite {
    /// The name of the suite, such as `guerdon-domain tests/memory.rs`.
    pub(crate) name: String,
    pub(crate) command: Command,
}

/// A suite that ended.
pub(crate) struct FinishedSuite {
    pub(crate) name: String,
    pub(super) output: String,
    pub(super) duration: Duration,
    pub(crate) is_passed: bool,
}

/// Suites that start processes and wait for them. They come first, so that short suites fill the gaps.
const LONG_SUITES: [&str; 3] =
    ["guerdon tests/main.rs", "guerdon-persistence tests/main.rs", "documentation"];

/// The environment variable that sets how many tests of one program run at once. Many tests wait, so there are two for
/// each processor: with three on two processors, all tests took 357 s instead of 341; with six, 319 s instead of 316.
const TEST_THREADS: &str = "RUST_TEST_THREADS";

fn processor_count() -> usize {
    std::thread::available_parallelism().map_or(1, NonZero::get)
}

/// Builds the test programs of all packages. Each suite gets the environment and the `filters`.
pub(super) fn build_suites(
    workspace: &Workspace,
    filters: &[String],
    environment: &[(&str, Option<std::ffi::OsString>)],
) -> Result<Vec<Suite>> {
    let mut cargo = workspace.workspace_command(&["test", "--no-run"]);
    cargo.arg("--message-format=json-render-diagnostics").stderr(Stdio::inherit());
    let built = cargo.output().context("starting cargo")?;
    if !built.status.success() {
        bail!("the tests do not compile");
    }
    let mut suites = Vec::new();
    for line in String::from_utf8(built.stdout).context("output of cargo")?.lines() {
        suites.extend(parse_suite(&serde_json::from_str(line).context("a message of cargo")?)?);
    }
    let mut documentation = workspace.workspace_command(&["test", "--doc"]);
    documentation.arg("--").args(filters);
    let threads =
        std::env::var_os(TEST_THREADS).unwrap_or_else(|| (2 * processor_count()).to_string().into());
    for suite in &mut suites {
        suite.command.env(TEST_THREADS, &threads);
        // Stable libtest reports times only with this variable, which must not reach rustc: crates would be rebuilt.
        suite
            .command
            .env("RUSTC_BOOTSTRAP", "1")
            .args(["-Z", "unstable-options", "--report-time"])
            .args(filters);
    }
    suites.push(Suite { name: "documentation".to_owned(), command: documentation });
    for (variable, value) in environment {
        for Suite { command, .. } in &mut suites {
            match value {
                Some(value) => command.env(variable, value),
                None => command.env_remove(variable),
            };
        }
    }
    let rank =
        |suite: &Suite| LONG_SUITES.iter().position(|name| *name == suite.name).unwrap_or(LONG_SUITES.len());
    suites.sort_by_key(rank);
    Ok(suites)
}

/// The suite that a message of cargo announces, if it announces one.
fn parse_suite(message: &Value) -> Result<Option<Suite>> {
    let is_test = message.pointer("/profile/test").and_then(Value::as_bool) == Some(true);
    let Some(executable) = message.get("executable").and_then(Value::as_str).filter(|_| is_test) else {
        return Ok(None);
    };
    let manifest = PathBuf::from(string_field(message, "manifest_path")?);
    let folder = manifest.parent().context("a manifest without a folder")?;
    let package = package_name(&string_field(message, "package_id")?).to_owned();
    let source =
        PathBuf::from(message.pointer("/target/src_path").and_then(Value::as_str).unwrap_or_default());
    let source = source.strip_prefix(folder).unwrap_or(&source).display();
    let mut command = Command::new(executable);
    command.current_dir(folder).env("CARGO_MANIFEST_DIR", folder).env("CARGO_PKG_NAME", &package);
    Ok(Some(Suite { name: format!("{package} {source}"), command }))
}

/// The name in a package id: `path+file:///folder/name#0.1.0` or `path+file:///folder#name@0.1.0`.
fn package_name(id: &str) -> &str {
    let (before, after) = id.rsplit_once('#').unwrap_or((id, ""));
    match after.split_once('@') {
        Some((name, _)) => name,
        None => before.rsplit('/').next().unwrap_or(before),
    }
}

/// Runs all suites, several at once, and prints the output of each when it ends.
pub(crate) fn run_suites(suites: Vec<Suite>, folder: &Path) -> Result<Vec<FinishedSuite>> {
    let queue = Mutex::new(suites.into_iter().enumerate().collect::<VecDeque<_>>());
    let finished = Mutex::new(Vec::new());
    let work = || -> Result<()> {
        loop {
            let next = queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
            let Some((number, suite)) = next else { return Ok(()) };
            let done = run_suite(suite, &folder.join(format!("suite-{number}")))?;
            let mut finished = finished.lock().unwrap_or_else(PoisonError::into_inner);
            println!("\n     Running {}\n{}", done.name, done.output.trim_matches('\n'));
            finished.push(done);
        }
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..processor_count()).map(|_| scope.spawn(work)).collect();
        workers.into_iter().try_for_each(|worker| {
            worker.join().unwrap_or_else(|_| bail!("a thread that runs tests panicked"))
        })
    })?;
    Ok(finished.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// Runs one suite. Its output goes to a file, because a process that a test leaves behind would keep a pipe open.
fn run_suite(Suite { name, mut command }: Suite, log: &Path) -> Result<FinishedSuite> {
    let file = File::create(log).context("creating a file for the output of a suite")?;
    command.stdin(Stdio::null()).stdout(file.try_clone()?).stderr(file);
    let start = Instant::now();
    let status = command.status().with_context(|| format!("starting {name}"))?;
    let duration = start.elapsed();
    let output = String::from_utf8_lossy(&std::fs::read(log)?).into_owned();
    Ok(FinishedSuite { name, output, duration, is_passed: status.success() })
}

#[cfg(test)]
mod tests {
    use super::package_name;

    #[test]
    fn a_package_id_contains_its_name() {
        assert_eq!(package_name("path+file:///src/guerdon/xtask#0.1.0"), "xtask");
        assert_eq!(
            package_name("path+file:///src/guerdon/crates/domain#guerdon-domain@0.1.0"),
            "guerdon-domain"
        );
    }
}
