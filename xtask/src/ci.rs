//! `cargo xtask ci`: everything that must pass before a change is merged.

use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};

use crate::test::suites::{Suite, run_suites};
use crate::workspace::{Workspace, run_command};
use crate::{client_generation, client_packages};
use crate::{deny, dev, migration, openapi, packaging, pages, public_api, publish, schemathesis, secrets};
use crate::{test, tidy};

/// Run everything that must pass before a change is merged: format, lints, tidy, docs, tests
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Only these steps, such as `lints` or `pages` [default: all]
    #[arg(value_name = "STEP")]
    steps: Vec<String>,
}

type CiStep<'a> = (&'a str, &'a dyn Fn() -> Result<()>);

/// Steps that mostly wait for a browser or another tool, the longest first. The step `parallel` runs several at a time.
const PARALLEL_STEPS: [&str; 4] = ["schemathesis", "pages", "client-generation", "clients"];

pub(crate) fn run(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    let docs = || {
        let mut cargo = workspace.workspace_command(&["doc", "--no-deps"]);
        run_command(cargo.env("RUSTDOCFLAGS", "-D warnings"))?;
        publish::check_documentation_links(workspace)
    };
    let clippy = ["clippy", "--all-targets"];
    let all: [CiStep<'_>; 19] = [
        ("format", &|| run_command(&mut workspace.cargo_command(&["fmt", "--all", "--check"]))),
        ("lints", &|| run_command(workspace.workspace_command(&clippy).args(["--", "-D", "warnings"]))),
        ("features", &|| check_features(workspace)),
        ("tidy", &|| tidy::run(workspace)),
        ("packaging", &|| packaging::run(workspace)),
        ("deny", &|| deny::run(workspace, &deny::Arguments {})),
        ("secrets", &|| secrets::run(workspace, &secrets::Arguments {})),
        ("publish", &|| publish::check_packages(workspace)),
        ("public-api", &|| public_api::run(workspace, &public_api::Arguments::check_only())),
        ("migrations", &|| migration::run(workspace, &migration::Command::Revert)),
        ("docs", &docs),
        ("description", &|| openapi::run(workspace, &openapi::Arguments::check_only())),
        ("sandbox", &|| dev::check_sandbox(workspace)),
        ("parallel", &run_parallel_steps),
        ("schemathesis", &|| schemathesis::run(workspace, &schemathesis::Arguments::for_ci())),
        ("pages", &|| pages::run(workspace, &pages::Arguments::for_ci())),
        ("client-generation", &|| client_generation::run(workspace, &client_generation::Arguments {})),
        ("clients", &|| client_packages::run(workspace, &client_packages::Arguments {})),
        ("tests", &|| test::run(workspace, &test::Arguments::default())),
    ];
    let is_unknown = |step: &&String| all.iter().all(|(name, _)| name != step);
    if let Some(unknown) = arguments.steps.iter().find(is_unknown) {
        bail!("there is no step {unknown}: {}", all.map(|(name, _)| name).join(", "));
    }
    let is_wanted = |name: &str| match arguments.steps.is_empty() {
        true => !PARALLEL_STEPS.contains(&name),
        false => arguments.steps.iter().any(|step| step == name),
    };
    for (name, step) in all.into_iter().filter(|(name, _)| is_wanted(name)) {
        println!("==> {name}");
        let start = Instant::now();
        step().with_context(|| format!("ci: {name}"))?;
        println!("==> {name} passed in {} s", start.elapsed().as_secs());
    }
    Ok(())
}

/// Runs each step as a separate process, and prints its output when it ends.
fn run_parallel_steps() -> Result<()> {
    let program = std::env::current_exe()?;
    let suites = PARALLEL_STEPS.map(|step| {
        let mut command = Command::new(&program);
        command.args(["ci", step]);
        Suite { name: step.to_owned(), command }
    });
    let folder = tempfile::tempdir()?;
    let finished = run_suites(suites.into(), folder.path())?;
    let failed: Vec<_> = finished.iter().filter(|suite| !suite.is_passed).map(|suite| &*suite.name).collect();
    ensure!(failed.is_empty(), "{} failed", failed.join(" and "));
    Ok(())
}

/// Checks that the crates for the domain and the client compile with different sets of features, that all crates
/// compile without failpoints and interfaces for tests, and that a release contains none of these.
fn check_features(workspace: &Workspace) -> Result<()> {
    let sets: [(&str, &[&str]); 5] = [
        ("guerdon-domain", &["--no-default-features"]),
        ("guerdon-domain", &["--no-default-features", "--features", "memory"]),
        ("guerdon-domain", &["--all-features"]),
        ("guerdon-client", &["--no-default-features", "--features", "async"]),
        ("guerdon-client", &["--all-features"]),
    ];
    for (package, set) in sets {
        let check = ["clippy", "--package", package, "--lib", "--locked"];
        run_command(&mut workspace.cargo_command(&[&check, set, &["--", "-D", "warnings"]].concat()))?;
    }
    // As a release contains them. `guerdon-parser-properties` needs the interfaces for tests.
    let as_released = ["clippy", "--no-default-features", "--exclude", "guerdon-parser-properties"];
    run_command(workspace.workspace_command(&as_released).args(["--", "-D", "warnings"]))?;
    check_release(workspace)
}

/// Fails if a release would contain failpoints or interfaces for tests.
fn check_release(workspace: &Workspace) -> Result<()> {
    let release = ["tree", "--package", "guerdon", "--features", "postgres-tls", "--locked"];
    let edges = ["--edges", "normal,build,features", "--prefix", "none"];
    let listed = workspace.cargo_command(&[&release[..], &edges].concat()).output()?;
    if !listed.status.success() {
        bail!("cargo tree: {}", String::from_utf8_lossy(&listed.stderr));
    }
    let all = String::from_utf8_lossy(&listed.stdout);
    let is_for_tests = |line: &&str| {
        line.starts_with("fail v") || line.starts_with("guerdon") && line.contains("\"testing\"")
    };
    match all.lines().find(is_for_tests) {
        Some(line) => bail!("a release would contain {line}: only dev-dependencies may enable it"),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    /// The Rust compiler omits these checks in optimized code unless the profile requests them.
    #[test]
    fn a_release_detects_integer_overflow() {
        let manifest = include_str!("../../Cargo.toml");
        let (_, after) = manifest.split_once("\n[profile.release]\n").unwrap();
        let profile = after.split("\n[").next().unwrap_or_default();
        assert!(profile.lines().any(|line| line == "overflow-checks = true"), "{profile}");
        for file in [manifest, include_str!("../../.cargo/config.toml")] {
            assert!(!file.contains("overflow-checks = false"), "{file}");
        }
    }
}
