//! Installs programs from PyPI, each in a separate folder under target/.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::workspace::{Workspace, run};

/// Returns the folder of a program's virtual environment, which is created the first time. Programs are in `bin`.
pub(crate) fn environment(workspace: &Workspace, name: &str, packages: &[&str]) -> Result<PathBuf> {
    let folder = workspace.target.join("tools").join(name);
    if !folder.join("bin").join(name).is_file() {
        run(Command::new("python3").args(["-m", "venv"]).arg(&folder))
            .context("making a place for Python")?;
        run(Command::new(folder.join("bin").join("pip")).args(["install", "--quiet"]).args(packages))?;
    }
    Ok(folder)
}
