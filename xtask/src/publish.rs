//! Checks that each published crate can be packaged and built separately, and has few dependencies.

use anyhow::{Context as _, Result, ensure};

use crate::workspace::{Workspace, run_command};

/// The published crates in the order of their dependencies.
const PUBLISHED: [&str; 4] =
    ["guerdon-webhooks", "guerdon-client", "guerdon-domain", "guerdon-webhook-dispatcher"];

/// The maximum number of packages that a crate with these features depends on, including itself.
const PACKAGES_MAX: [(&str, &[&str], usize); 4] = [
    ("guerdon-webhooks", &[], 30),
    ("guerdon-client", &[], 60),
    ("guerdon-domain", &["--no-default-features"], 16),
    ("guerdon-domain", &["--features=use-cases"], 70),
];

pub(crate) fn check_packages(workspace: &Workspace) -> Result<()> {
    for (package, features, max) in PACKAGES_MAX {
        let count = count_packages(workspace, package, features)?;
        println!("{package} {}: {count} packages, at most {max}", features.join(" "));
        ensure!(count <= max, "{package} depends on {count} packages; the limit is {max}");
    }
    // Cargo takes a packaged crate of a known version from its caches, which are named after the target folder.
    let target = tempfile::Builder::new().prefix("publish-").tempdir_in(&workspace.target)?;
    let mut publish =
        workspace.cargo_command(&["publish", "--dry-run", "--quiet", "--locked", "--allow-dirty"]);
    // The build is only a check, so it needs neither optimization nor debug information.
    publish.env("CARGO_PROFILE_DEV_OPT_LEVEL", "0").env("CARGO_PROFILE_DEV_DEBUG", "0");
    publish.arg("--target-dir").arg(target.path());
    run_command(publish.args(PUBLISHED.iter().flat_map(|package| ["--package", package])))
}

fn count_packages(workspace: &Workspace, package: &str, features: &[&str]) -> Result<usize> {
    let tree =
        ["tree", "--locked", "--edges", "normal", "--prefix", "none", "--no-dedupe", "--package", package];
    let output =
        workspace.cargo_command(&[&tree, features].concat()).output().context("running cargo tree")?;
    ensure!(output.status.success(), "cargo tree failed: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout);
    let packages: std::collections::BTreeSet<&str> =
        text.lines().filter_map(|line| line.split_once(' ').map(|(name, _)| name)).collect();
    Ok(packages.len())
}
