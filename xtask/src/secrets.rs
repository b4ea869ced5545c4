//! `cargo xtask secrets`: searches the repository and its history for credentials.

use std::process::Command;

use anyhow::{Context as _, Result};

use crate::python::prepare_environment;
use crate::workspace::{Workspace, run_command};

/// A wheel that contains the program Kingfisher.
const PACKAGE: &str = "kingfisher-bin==2.14.0";
/// Findings that are no secrets: the password in an example of a URL.
const FALSE_POSITIVES: &str = "^p,q$";

/// Search the files and their history for credentials with Kingfisher, which is installed from PyPI
#[derive(clap::Args)]
pub(crate) struct Arguments {}

pub(crate) fn run(workspace: &Workspace, Arguments {}: &Arguments) -> Result<()> {
    let tool = prepare_environment(workspace, "kingfisher", &[PACKAGE])?.join("bin").join("kingfisher");
    let mut scan = Command::new(tool);
    // Without validation, nothing that is found leaves this machine. With `--redact`, nothing is printed either.
    scan.args(["scan", ".", "--no-validate", "--no-update-check", "--redact", "--no-rule-cache"]);
    scan.args(["--exclude", "target", "--skip-regex", FALSE_POSITIVES]);
    run_command(scan.current_dir(&workspace.root))
        .context("if a finding is real, revoke the credential: it stays in the history")
}
