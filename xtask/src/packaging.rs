//! `cargo xtask packaging`: checks the packaging files with the tools that read them.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::workspace::{Workspace, command_output};

/// The program's path in the units; a placeholder is used while they are checked.
const PROGRAM: &str = "/usr/local/bin/guerdon";
const PLACEHOLDER: &str = "/bin/true";
/// The units in packaging/systemd.
const UNITS: [&str; 3] = ["guerdon.service", "guerdon-backup.service", "guerdon-backup.timer"];
/// The drop-in of the backup for PostgreSQL.
const POSTGRES_DROP_IN: &str = "guerdon-backup-postgres.conf";
/// The maximum exposure of a service, in tenths, as `systemd-analyze security` computes it.
const EXPOSURE_MAX: &str = "--threshold=20";

/// Checks each file whose tool is installed. A missing tool is an error in CI; elsewhere its checks are skipped.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    let packaging = workspace.root.join("packaging");
    if require_tool("promtool", "prometheus")? {
        check_alerts(&packaging.join("prometheus")).context("packaging/prometheus")?;
    }
    if require_tool("systemd-analyze", "systemd")? {
        check_units(&packaging.join("systemd")).context("packaging/systemd")?;
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

/// Checks each unit as it is installed: alone, and with the drop-in for PostgreSQL.
fn check_units(folder: &Path) -> Result<()> {
    let installed = tempfile::tempdir()?;
    for name in UNITS {
        copy_unit(&folder.join(name), &installed.path().join(name))?;
    }
    verify_units(installed.path())?;
    let drop_ins = installed.path().join("guerdon-backup.service.d");
    std::fs::create_dir(&drop_ins)?;
    copy_unit(&folder.join(POSTGRES_DROP_IN), &drop_ins.join("postgres.conf"))?;
    verify_units(installed.path())
}

/// Copies a unit or drop-in with a placeholder for the program, which `systemd-analyze` requires to exist.
fn copy_unit(from: &Path, to: &Path) -> Result<()> {
    let text = std::fs::read_to_string(from).with_context(|| from.display().to_string())?;
    Ok(std::fs::write(to, text.replace(PROGRAM, PLACEHOLDER))?)
}

fn verify_units(folder: &Path) -> Result<()> {
    for name in UNITS {
        command_output(Command::new("systemd-analyze").arg("verify").arg(folder.join(name))).context(name)?;
        if name.ends_with(".service") {
            let security = ["security", "--no-pager", "--offline=true", EXPOSURE_MAX];
            let mut analyze = Command::new("systemd-analyze");
            command_output(analyze.args(security).arg(folder.join(name))).context(name)?;
        }
    }
    Ok(())
}
