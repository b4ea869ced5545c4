//! `cargo xtask dev`: builds and starts the service's sandbox.

use std::os::unix::process::CommandExt as _;
use std::process::Command;

use anyhow::{Context as _, Result};

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
