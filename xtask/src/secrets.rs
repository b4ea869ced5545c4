//! `cargo xtask secrets`: searches the repository and its history for credentials.

use std::process::Command;

use anyhow::{Context as _, Result};

use crate::python::prepare_environment;
use crate::workspace::{Workspace, command_output, run_command};

/// A wheel that contains the program Kingfisher.
const PACKAGE: &str = "kingfisher-bin==2.14.0";
/// Matches findings that are not credentials: the password of a URL in the tests of `server_list.rs`.
const FALSE_POSITIVE_PATTERN: &str = "^p,q$";
/// Untracked folders with private keys: of builds and tests, and of a service that runs here.
const EXCLUDED_FOLDERS: [&str; 2] = ["target", "guerdon-data"];

/// Search the files and their history for credentials with Kingfisher, which is installed from PyPI
#[derive(clap::Args)]
pub(crate) struct Arguments {}

pub(crate) fn run(workspace: &Workspace, Arguments {}: &Arguments) -> Result<()> {
    let root = &workspace.root;
    let tool = prepare_environment(workspace, "kingfisher", &[PACKAGE])?.join("bin").join("kingfisher");
    let mut is_shallow = Command::new("git");
    is_shallow.current_dir(root).args(["rev-parse", "--is-shallow-repository"]);
    if command_output(&mut is_shallow).is_ok_and(|printed| printed.trim() == "true") {
        eprintln!("this clone does not have the whole history, so only a part of it is searched");
    }
    let mut scan = Command::new(tool);
    // Without validation, no credential is sent to its service. With `--redact`, the output contains hashes instead of
    // credentials.
    scan.arg("scan").arg(root).args(["--no-validate", "--no-update-check", "--redact", "--no-rule-cache"]);
    scan.args(["--skip-regex", FALSE_POSITIVE_PATTERN]);
    for folder in EXCLUDED_FOLDERS {
        scan.arg("--exclude").arg(root.join(folder).join("**"));
    }
    run_command(&mut scan).context(
        "the search failed or found credentials: revoke each of them, because it stays in the history",
    )
}
