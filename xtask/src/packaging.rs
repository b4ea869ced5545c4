//! `cargo xtask packaging`: checks the packaging files with the tools that read them.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::workspace::{Workspace, command_output};

/// The program's path in the unit; a placeholder is used while the unit is checked.
const PROGRAM: &str = "/usr/local/bin/guerdon";
const PLACEHOLDER: &str = "/bin/true";
/// The maximum exposure of the unit, in tenths, as `systemd-analyze security` computes it.
const EXPOSURE_MAX: &str = "--threshold=20";

/// Checks each file whose tool is installed. A missing tool is an error in CI; elsewhere its checks are skipped.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    let packaging = workspace.root.join("packaging");
    if require_tool("promtool", "prometheus")? {
        check_alerts(&packaging.join("prometheus")).context("packaging/prometheus")?;
    }
    if require_tool("systemd-analyze", "systemd")? {
        check_unit(&packaging.join("systemd/guerdon.service"))
            .context("packaging/systemd/guerdon.service")?;
    }
    Ok(())
}

/// Whether a tool is installed. `package` is the Debian package that contains it.
fn require_tool(tool: &str, package: &str) -> Result<bool> {
    let is_installed =
        Command::new(tool).arg("--version").output().is_ok_and(|output| output.status.success());
    if !is_installed {
        if std::env::var_os("CI").is_some() {
            bail!("{tool} is missing: install {package}, because CI skips no checks");
        }
        println!("Skipped: the checks of {tool}, because it is missing (Debian: {package})");
    }
    Ok(is_installed)
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
