//! `cargo xtask dev`: builds and starts the service's sandbox.

use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result};
use guerdon_test_harness::{Sandbox, parse_exports};

use crate::workspace::{Workspace, run_command};

/// Build the service and start its sandbox: `guerdon dev` with the given arguments
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// For example `--speed 10000`, `--database URL` or `--check`
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS")]
    rest: Vec<String>,
}

pub(crate) fn run(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    let mut command = Command::new(workspace.build_guerdon()?);
    let error = command.arg("dev").args(&arguments.rest).exec(); // returns only on failure
    Err(error).context("starting guerdon dev")
}

/// Runs the self-test of the sandbox, for `ci`.
pub(crate) fn check_sandbox(workspace: &Workspace) -> Result<()> {
    run_command(Command::new(workspace.build_guerdon()?).args(["dev", "--check"]))
}

/// Starts a sandbox for clients. Returns the variables that it printed, and the variable that makes Node trust its
/// certificate.
pub(crate) fn start_sandbox(program: &Path) -> Result<(Sandbox, Vec<(String, String)>)> {
    let sandbox = Sandbox::start(program, &[], &[])?;
    let mut variables = parse_exports(&sandbox.wait_until_ready()?);
    let certificate = variables.iter().find(|(name, _)| name == "CERTIFICATE").map(|(_, file)| file.clone());
    let certificate = certificate.context("guerdon dev printed no CERTIFICATE")?;
    variables.push(("NODE_EXTRA_CA_CERTS".to_owned(), certificate));
    Ok((sandbox, variables))
}
