//! Writes the OpenAPI description of the API to a file, and refuses changes that break clients.

mod breaking;

use std::fs;

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use crate::workspace::{Workspace, command_output, guerdon_command};

const FILE: &str = "docs/openapi.json";

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
            bail!("{FILE} is not what the program prints; run `cargo xtask openapi` to update it");
        }
        println!("{FILE} is current");
        return Ok(());
    }
    let now: Value = serde_json::from_str(&printed).context("reading what the program printed")?;
    if let Ok(before) = serde_json::from_str::<Value>(&current) {
        let breaks = breaking::find_breaking_changes(&before, &now);
        breaks.iter().for_each(|change| eprintln!("breaks clients: {change}"));
        if !breaks.is_empty() && !arguments.accept_breaking {
            bail!("{FILE} stays as it is: what breaks clients needs a new version of the API");
        }
    }
    fs::write(&file, format!("{}\n", printed.trim_end())).with_context(|| format!("writing {FILE}"))?;
    println!("{FILE} is written");
    Ok(())
}
