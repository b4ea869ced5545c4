//! `cargo xtask dev`: the service's own sandbox, built and started.

use std::os::unix::process::CommandExt as _;
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::workspace::{Workspace, run as run_command};

/// Build the service and start its sandbox: `guerdon dev`, with the arguments that follow
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Such as `--speed 10000`, `--database URL`, `--check`
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS")]
    rest: Vec<String>,
}

pub(crate) fn run(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    let mut command = Command::new(workspace.build_guerdon()?);
    let error = command.arg("dev").args(&arguments.rest).exec(); // answers only where it could not be started
    Err(error).context("starting guerdon dev")
}

/// Whether the sandbox works: what `ci` runs.
pub(crate) fn check(workspace: &Workspace) -> Result<()> {
    run_command(Command::new(workspace.build_guerdon()?).args(["dev", "--check"]))
}
