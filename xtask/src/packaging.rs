//! `cargo xtask packaging`: checks the packaging files with the tools that read them.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use crate::workspace::{Workspace, command_output};

/// The program's path in the unit; a placeholder is used while the unit is checked.
const PROGRAM: &str = "/usr/local/bin/guerdon";
const PLACEHOLDER: &str = "/bin/true";
/// The maximum exposure of the unit, in tenths, as `systemd-analyze security` computes it.
const EXPOSURE_MAX: &str = "--threshold=20";

/// Checks each file whose tool is installed, and prints the names of the others.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    let packaging = workspace.root.join("packaging");
    if is_installed("promtool") {
        check_alerts(&packaging.join("prometheus")).context("packaging/prometheus")?;
    }
    if is_installed("systemd-analyze") {
        check_unit(&packaging.join("systemd/guerdon.service"))
            .context("packaging/systemd/guerdon.service")?;
    }
    Ok(())
}

fn is_installed(tool: &str) -> bool {
    let is_there = Command::new(tool).arg("--version").output().is_ok_and(|output| output.status.success());
    if !is_there {
        println!("{tool} is not installed: what it judges is not judged");
    }
    is_there
}

fn check_alerts(folder: &Path) -> Result<()> {
    let promtool = || {
        let mut promtool = Command::new("promtool");
        promtool.current_dir(folder);
        promtool
    };
    command_output(promtool().args(["check", "rules", "alerts.yml"]))?;
    command_output(promtool().args(["test", "rules", "alerts_test.yml"])).map(drop)
}

fn check_unit(file: &Path) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let copy = folder.path().join("guerdon.service");
    std::fs::write(&copy, std::fs::read_to_string(file)?.replace(PROGRAM, PLACEHOLDER))?;
    command_output(Command::new("systemd-analyze").arg("verify").arg(&copy))?;
    let security = ["security", "--no-pager", "--offline=true", EXPOSURE_MAX];
    command_output(Command::new("systemd-analyze").args(security).arg(&copy)).map(drop)
}
