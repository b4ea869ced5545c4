//! `cargo xtask instruction-count`: counts the instructions of the hot paths and compares them with the stored
//! baseline.
//!
//! valgrind counts the instructions, so the numbers are the same on a busy machine. It is called directly:
//! iai-callgrind would need a second program of the same version, and the numbers are a few lines of valgrind's output.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::workspace::{self, Workspace};

/// The paths, and the number of additional runs of each. Short paths need more runs: a connection that the pool opens
/// meanwhile takes four million instructions.
const PATHS: [(&str, u64); 8] = [
    ("recognition", 100),
    ("recognition-to-ten", 100),
    ("redemption", 100),
    ("sqlite-recognition", 400),
    ("sqlite-recognition-to-ten", 100),
    ("sqlite-user", 20_000),
    ("sqlite-balances", 40_000),
    ("sqlite-transactions", 400),
];
/// Each path is run this many times, and then this many times plus its additional runs. The difference is the cost of
/// the additional runs.
const BASE_RUNS: u64 = 50;
/// The allowed deviation from the baseline, in percent.
const TOLERANCE: u64 = 5;
const BASELINE: &str = "xtask/instruction-count/baseline.csv";

/// Count the instructions of the hot paths and compare them with the baseline
///
/// Fails if a path takes over 5 % more than in xtask/instruction-count/baseline.csv. The numbers depend on the version
/// of the compiler, which the file records. Needs valgrind.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Write the results to the baseline
    #[arg(long)]
    update: bool,
}

struct Baseline {
    compiler: String,
    counts: BTreeMap<String, u64>,
}

pub(crate) fn run(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    workspace::run_command(&mut workspace.cargo_command(&[
        "build",
        "--release",
        "--locked",
        "--package",
        "guerdon-instruction-count",
    ]))?;
    let program = workspace.target.join("release").join("guerdon-instruction-count");
    let file = workspace.root.join(BASELINE);
    let compiler = workspace::command_output(Command::new("rustc").arg("--version"))?.trim().to_owned();
    let baseline = if arguments.update { None } else { Some(read_baseline(&file)?) };
    if let Some(other) =
        baseline.as_ref().map(|baseline| &baseline.compiler).filter(|baseline| **baseline != compiler)
    {
        eprintln!("the baseline was recorded with {other}, but this is {compiler}: counts may differ");
    }
    let mut counts = BTreeMap::new();
    let mut regressions = Vec::new();
    println!("{:26} {:>12} {:>12} {:>8}", "path", "instructions", "baseline", "change");
    for (path, extra_runs) in PATHS {
        let count = instructions_per_run(&program, path, extra_runs)?;
        counts.insert(path.to_owned(), count);
        let expected = baseline.as_ref().and_then(|baseline| baseline.counts.get(path)).copied();
        println!("{path:26} {count:>12} {}", format_change(count, expected));
        if expected.is_some_and(|expected| count * 100 > expected * (100 + TOLERANCE)) {
            regressions.push(path);
        }
        if expected.is_some_and(|expected| count * (100 + TOLERANCE) < expected * 100) {
            println!(
                "{path} executes fewer instructions than its baseline: record the new count with --update"
            );
        }
    }
    if arguments.update {
        return write_baseline(&file, &Baseline { compiler, counts });
    }
    if !regressions.is_empty() {
        bail!("these paths exceed the baseline by more than {TOLERANCE} %: {}", regressions.join(", "));
    }
    Ok(())
}

fn format_change(count: u64, baseline: Option<u64>) -> String {
    let Some(baseline) = baseline else { return format!("{:>12} {:>8}", "", "new") };
    let per_mille = i64::try_from(count * 1_000 / baseline.max(1)).unwrap_or(i64::MAX) - 1_000;
    let sign = if per_mille < 0 { '-' } else { '+' };
    let per_mille = per_mille.unsigned_abs();
    format!("{baseline:>12} {:>8}", format!("{sign}{}.{} %", per_mille / 10, per_mille % 10))
}

/// Returns the number of instructions that one run of a path takes.
fn instructions_per_run(program: &Path, path: &str, extra_runs: u64) -> Result<u64> {
    let (base, all) = (
        total_instructions(program, path, BASE_RUNS)?,
        total_instructions(program, path, BASE_RUNS + extra_runs)?,
    );
    Ok(all.saturating_sub(base) / extra_runs)
}

/// Returns the number of instructions that a process executes to run a path `times` times.
fn total_instructions(program: &Path, path: &str, times: u64) -> Result<u64> {
    let folder = tempfile::Builder::new().prefix("guerdon-instruction-count-").tempdir()?;
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]);
    command.arg(program).args([path, &times.to_string()]).arg(folder.path());
    let output = command.output().context("starting valgrind, which counts the instructions")?;
    let stderr = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        bail!("{path} failed ({}): {stderr}", output.status);
    }
    let count = stderr.lines().find_map(|line| line.split_once("Collected :")?.1.trim().parse().ok());
    count.with_context(|| format!("valgrind printed no count: {stderr}"))
}

fn read_baseline(file: &PathBuf) -> Result<Baseline> {
    let text = std::fs::read_to_string(file).with_context(|| format!("reading {}", file.display()))?;
    let mut lines = text.lines();
    let compiler = lines.next().and_then(|line| line.strip_prefix("# ")).unwrap_or_default().to_owned();
    let counts = lines.map(|line| {
        let (path, count) = line.split_once(',').with_context(|| format!("no count in `{line}`"))?;
        Ok((path.to_owned(), count.parse().with_context(|| format!("`{count}` of {path}"))?))
    });
    Ok(Baseline { compiler, counts: counts.collect::<Result<_>>()? })
}

fn write_baseline(file: &PathBuf, baseline: &Baseline) -> Result<()> {
    let counts: String = baseline.counts.iter().map(|(path, count)| format!("{path},{count}\n")).collect();
    std::fs::write(file, format!("# {}\n{counts}", baseline.compiler))?;
    println!("written to {}", file.display());
    Ok(())
}
