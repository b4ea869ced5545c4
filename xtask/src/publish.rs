//! Checks that each published crate can be packaged and built separately, has few dependencies, and links to existing
//! pages of its documentation.

use anyhow::{Context as _, Result, ensure};

use crate::workspace::{Workspace, run_command};

/// The published crates in the order of their dependencies.
const PUBLISHED: [&str; 4] =
    ["guerdon-webhooks", "guerdon-client", "guerdon-domain", "guerdon-webhook-dispatcher"];

/// The maximum number of packages in the dependency tree of a crate with these features. The crate itself counts.
const PACKAGES_MAX: [(&str, &[&str], usize); 5] = [
    ("guerdon-webhooks", &[], 30),
    ("guerdon-client", &[], 60),
    ("guerdon-client", &["--no-default-features", "--features=async"], 60),
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

/// Checks that the links to docs.rs in the READMEs of published crates, which crates.io shows too, name pages and items
/// that exist in the documentation of the workspace.
pub(crate) fn check_documentation_links(workspace: &Workspace) -> Result<()> {
    for package in PUBLISHED {
        let folder = package.trim_start_matches("guerdon-");
        let readme = workspace.root.join("crates").join(folder).join("README.md");
        let text = std::fs::read_to_string(&readme).with_context(|| readme.display().to_string())?;
        let prefix = format!("https://docs.rs/{package}/latest/");
        for name in linked_items(&text) {
            let is_defined = text.contains(&format!("\n[`{name}`]: https://"));
            ensure!(
                is_defined,
                "crates/{folder}/README.md: crates.io shows [`{name}`] without a link: add its URL"
            );
        }
        let ends_link = |character: char| character.is_whitespace() || character == ')';
        for link in text.split(&prefix).skip(1).filter_map(|rest| rest.split(ends_link).next()) {
            let (page, item) = link.split_once('#').unwrap_or((link, ""));
            let html = std::fs::read_to_string(workspace.target.join("doc").join(page)).unwrap_or_default();
            let is_found = html.contains(&format!("id=\"{item}\"")) || item.is_empty() && !html.is_empty();
            ensure!(
                is_found,
                "crates/{folder}/README.md links to {link}, which the documentation does not have"
            );
        }
    }
    Ok(())
}

/// Returns the items in brackets and backticks without a target. Only rustdoc links these. Skips code blocks.
fn linked_items(readme: &str) -> Vec<&str> {
    let prose = readme.split("\n```").step_by(2);
    let after_brackets = prose.flat_map(|part| part.split("[`").skip(1));
    let links = after_brackets.filter_map(|rest| rest.split_once("`]"));
    links.filter(|(_, after)| !after.starts_with(['(', '['])).map(|(name, _)| name).collect()
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

#[cfg(test)]
mod tests {
    #[test]
    fn links_with_a_target_and_code_need_no_definition() {
        let readme = "[`A`], [`B::c`](x.md) and [`D`][d]\n\n```\n[`E`]\n```\n\n[`F::g`].\n";
        assert_eq!(super::linked_items(readme), ["A", "F::g"]);
    }
}
