//! `cargo xtask pages`: screenshots of the documentation and the console, and a check of their accessibility.

use std::fs;
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::npm::install_packages;
use crate::workspace::{Workspace, run_command};

/// The files of `xtask/pages`.
const FILES: [&str; 3] = ["package.json", "package-lock.json", "pages.mjs"];
const CHROMIUM: &str = "/usr/bin/chromium";

/// Take screenshots of the pages of the documentation and the console, at two widths in light and dark mode, and check
/// them with axe
///
/// Starts a service and fills it with companies, users, recognitions and a receiver that fails. The screenshots are in
/// target/pages. The first run installs axe-core and puppeteer-core from npm. Needs Node 20 with npm, and Chromium.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Only the wide pages in light mode and the narrow ones in dark mode, which takes half the time
    #[arg(long)]
    quick: bool,
    /// The browser
    #[arg(long, default_value = CHROMIUM, value_name = "PROGRAM")]
    chromium: String,
}

impl Arguments {
    pub(crate) fn for_ci() -> Self {
        Self { quick: true, chromium: CHROMIUM.to_owned() }
    }
}

pub(crate) fn run(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    let program = workspace.build_guerdon()?;
    let folder = workspace.target.join("tools").join("pages");
    fs::create_dir_all(&folder)?;
    for name in FILES {
        let from = workspace.root.join("xtask").join("pages").join(name);
        fs::copy(&from, folder.join(name)).with_context(|| from.display().to_string())?;
    }
    install_packages(&folder)?;
    let mut node = Command::new("node");
    node.arg("pages.mjs").current_dir(&folder);
    node.env("PROGRAM", program).env("CHROMIUM", &arguments.chromium);
    if arguments.quick {
        node.env("QUICK", "1");
    }
    run_command(node.env("OUTPUT", workspace.target.join("pages")))
}
