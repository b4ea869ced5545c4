//! Installs programs from PyPI, each in a separate folder under target/.

use std::fs;
use std::path::{Path, PathBuf};
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
            .context("creating a virtual environment (Debian: install python3-venv)")?;
        let mut pip = Command::new(folder.join("bin").join("pip"));
        run_command(pip.args(["install", "--quiet", "--disable-pip-version-check"]).args(packages))
            .with_context(|| {
                format!("cannot install {}; check that PyPI is reachable", packages.join(", "))
            })?;
        fs::write(&record, required).with_context(|| format!("writing {}", record.display()))?;
    }
    Ok(folder)
}

/// Returns a command for a program of an environment, which can start the other programs of the environment.
pub(crate) fn with_programs(environment: &Path, name: &str) -> Result<Command> {
    let folder = environment.join("bin");
    let others = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(std::iter::once(folder.clone()).chain(std::env::split_paths(&others)))?;
    let mut command = Command::new(folder.join(name));
    command.env("PATH", path);
    Ok(command)
}
