//! Installs programs from PyPI, each in a separate folder under target/.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::workspace::{Workspace, run_command};

/// Returns the folder of a program's virtual environment. Programs are in `bin`. It is created the first time, and
/// extended when the packages change.
pub(crate) fn prepare_environment(workspace: &Workspace, name: &str, packages: &[&str]) -> Result<PathBuf> {
    let folder = workspace.target.join("tools").join(name);
    let record = folder.join("packages.txt");
    let required = packages.join("\n");
    if fs::read_to_string(&record).ok().as_ref() != Some(&required) {
        run_command(Command::new("python3").args(["-m", "venv"]).arg(&folder))
            .context("making a place for Python")?;
        run_command(
            Command::new(folder.join("bin").join("pip")).args(["install", "--quiet"]).args(packages),
        )?;
        fs::write(&record, required).with_context(|| format!("writing {}", record.display()))?;
    }
    Ok(folder)
}
