//! Release builds of the service and of this command.

use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};

use crate::workspace::{self, Workspace};

/// Runs this command again as a release build. With an unoptimized client, the measurements would be those of the
/// client.
pub(crate) fn rerun_as_release(workspace: &Workspace) -> Result<()> {
    let mut command =
        workspace.cargo_command(&["run", "--quiet", "--release", "--locked", "--package", "xtask", "--"]);
    let failed = command.args(std::env::args_os().skip(1)).exec();
    Err(failed).context("starting cargo")
}

/// Builds these packages, and the service unless `program` names another build. Returns the path of the service.
pub(crate) fn build_release(
    workspace: &Workspace,
    packages: &[&str],
    program: Option<&Path>,
) -> Result<PathBuf> {
    let own = program.is_none().then_some("guerdon");
    let wanted: Vec<&str> = packages.iter().copied().chain(own).collect();
    if !wanted.is_empty() {
        let mut arguments = vec!["build", "--release", "--locked"];
        arguments.extend(wanted.iter().flat_map(|package| ["--package", package]));
        workspace::run_command(&mut workspace.cargo_command(&arguments))?;
    }
    match program {
        Some(other) => Ok(std::path::absolute(other)?),
        None => Ok(workspace.target.join("release").join("guerdon")),
    }
}

/// Ends this process after `limit`. The watchdogs then stop everything that it started.
pub(crate) fn exit_after(limit: Duration) -> Result<()> {
    std::thread::Builder::new().name("limit".to_owned()).spawn(move || {
        std::thread::sleep(limit);
        eprintln!("error: the run did not end within {} s", limit.as_secs());
        std::process::exit(1);
    })?;
    Ok(())
}
