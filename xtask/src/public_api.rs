//! Records the public interface of the published crates, so that every change to it is seen in review.
//!
//! The interface of a crate is a list of its public items, one per line. Rustdoc provides it as JSON, whose format
//! depends on the version of the compiler: a new toolchain needs a new version of the crate `public-api`.

use std::collections::BTreeSet;
use std::fs;

use anyhow::{Context as _, Result, bail};

use crate::workspace::{Workspace, run_command};

const FOLDER: &str = "xtask/public-api";
/// The published crates, with the features whose interface is stable.
const CRATES: [(&str, &[&str]); 4] = [
    ("guerdon-webhooks", &["--all-features"]),
    ("guerdon-client", &["--all-features"]),
    ("guerdon-domain", &["--no-default-features", "--features", "use-cases,memory,serde"]),
    ("guerdon-webhook-dispatcher", &[]),
];

/// Compare the public interface of the published crates with the recorded one
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Record the current interface
    #[arg(long)]
    accept: bool,
}

impl Arguments {
    /// The arguments that compare the interfaces and record nothing.
    pub(crate) fn check_only() -> Self {
        Self { accept: false }
    }
}

pub(crate) fn run(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    let mut has_changed = false;
    for (package, features) in CRATES {
        let items = list_items(workspace, package, features)?;
        let file = workspace.root.join(FOLDER).join(format!("{package}.txt"));
        if arguments.accept {
            fs::write(&file, items).with_context(|| file.display().to_string())?;
            continue;
        }
        let recorded = fs::read_to_string(&file).unwrap_or_default();
        let changes = compare_items(&recorded, &items);
        println!("{package}: {} public items, {} changes", items.lines().count(), changes.len());
        changes.iter().for_each(|change| println!("    {change}"));
        has_changed |= !changes.is_empty();
    }
    if has_changed {
        bail!(
            "the public interface has changed: undo the change, or run `cargo xtask public-api --accept`; once a \
             version is published, a removed or changed item also needs a new minor version"
        );
    }
    Ok(())
}

/// Returns the public items of a crate, one per line, without the implementations that follow from derives, blanket
/// implementations and auto traits.
fn list_items(workspace: &Workspace, package: &str, features: &[&str]) -> Result<String> {
    write_rustdoc_json(workspace, package, features)?;
    let json = workspace.target.join("doc").join(format!("{}.json", package.replace('-', "_")));
    let api = public_api::Builder::from_rustdoc_json(json)
        .omit_blanket_impls(true)
        .omit_auto_trait_impls(true)
        .omit_auto_derived_impls(true)
        .build()
        .with_context(|| format!("reading the documentation of {package}"))?;
    Ok(api.to_string())
}

/// Writes the documentation of a crate as JSON. Stable compilers offer this only with `RUSTC_BOOTSTRAP`, which would
/// cause rebuilds if cargo saw it, so a script sets it for rustdoc alone.
fn write_rustdoc_json(workspace: &Workspace, package: &str, features: &[&str]) -> Result<()> {
    let script = workspace.root.join(FOLDER).join("rustdoc.sh");
    let mut rustdoc =
        workspace.cargo_command(&["rustdoc", "--quiet", "--locked", "--lib", "--package", package]);
    rustdoc.args(features);
    rustdoc.args(["--", "-Z", "unstable-options", "--output-format", "json", "--cap-lints", "allow"]);
    run_command(rustdoc.env("RUSTDOC", script))
}

/// Returns the items that were removed, with `-`, and those that were added, with `+`.
fn compare_items(recorded: &str, current: &str) -> Vec<String> {
    let (before, after): (BTreeSet<&str>, BTreeSet<&str>) =
        (recorded.lines().collect(), current.lines().collect());
    let removed = before.difference(&after).map(|item| format!("- {item}"));
    removed.chain(after.difference(&before).map(|item| format!("+ {item}"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn removed_and_added_items_are_listed() {
        let changes = compare_items("pub fn a()\npub fn b()\n", "pub fn a()\npub fn c()\n");
        assert_eq!(changes, ["- pub fn b()", "+ pub fn c()"]);
    }
}
