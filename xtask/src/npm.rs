//! Installs packages from npm in folders under target/.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::workspace::{command_output, run_command};

/// The oldest version of Node that the packages support.
const NODE_MAJOR_MIN: u32 = 20;

/// Installs the packages of a lock file into `node_modules` of this folder, unless they are installed. The folder must
/// have `package.json` and `package-lock.json`.
pub(crate) fn install_packages(folder: &Path) -> Result<()> {
    require_node()?;
    let lock = folder.join("package-lock.json");
    let record = folder.join("node_modules").join("installed-packages.json");
    let required = fs::read(&lock).with_context(|| format!("reading {}", lock.display()))?;
    if fs::read(&record).ok().as_ref() == Some(&required) {
        return Ok(());
    }
    run_command(Command::new("npm").args(["ci", "--silent"]).current_dir(folder)).with_context(|| {
        format!("cannot install the packages of {}; check that the npm registry is reachable", lock.display())
    })?;
    fs::write(&record, required).with_context(|| format!("writing {}", record.display()))
}

/// Installs one version of a package (`name@version`) into a separate folder, unless it is installed. Use it for
/// packages whose programs differ between platforms: a lock file would contain only the programs of the platform on
/// which it was written.
pub(crate) fn install_package(folder: &Path, package: &str) -> Result<()> {
    require_node()?;
    let record = folder.join("node_modules").join("installed-package");
    if fs::read(&record).is_ok_and(|installed| installed == package.as_bytes()) {
        return Ok(());
    }
    fs::create_dir_all(folder).with_context(|| format!("creating {}", folder.display()))?;
    let mut npm = Command::new("npm");
    npm.args(["install", "--silent", "--no-save", "--prefix", ".", package]).current_dir(folder);
    run_command(&mut npm)
        .with_context(|| format!("cannot install {package}; check that the npm registry is reachable"))?;
    fs::write(&record, package).with_context(|| format!("writing {}", record.display()))
}

/// Returns a command for a program of an installed package.
pub(crate) fn package_program(folder: &Path, name: impl AsRef<OsStr>) -> Command {
    let path = folder.join("node_modules").join(".bin").join(name.as_ref());
    let mut command = Command::new(path);
    command.current_dir(folder);
    command
}

/// Fails if Node or npm is missing.
fn require_node() -> Result<()> {
    command_output(Command::new("npm").arg("--version")).context("install npm (Debian: npm)")?;
    let printed = command_output(Command::new("node").arg("--version"))
        .context("install Node 20 or later (Debian: nodejs)")?;
    let major: Option<u32> =
        printed.trim().trim_start_matches('v').split('.').next().and_then(|text| text.parse().ok());
    match major {
        Some(major) if major < NODE_MAJOR_MIN => {
            bail!("node is {}; install Node {NODE_MAJOR_MIN} or later", printed.trim())
        }
        _ => Ok(()),
    }
}
