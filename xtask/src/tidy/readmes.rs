//! A crate's README is its documentation: rustdoc shows it and runs its examples.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::Finding;
use crate::workspace::{Workspace, list_subfolders};

const README_INCLUDE: &str = "#![doc = include_str!(\"../README.md\")]";

pub(super) fn check(workspace: &Workspace) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for krate in list_subfolders(&workspace.root.join("crates"))? {
        let readme = krate.join("README.md");
        let text = std::fs::read_to_string(&readme).unwrap_or_default();
        let root_file = root_file(&krate);
        let source = std::fs::read_to_string(&root_file)
            .with_context(|| format!("reading {}", root_file.display()))?;
        let place = |path: &Path| path.strip_prefix(&workspace.root).unwrap_or(path).display().to_string();
        if text.trim().is_empty() {
            findings.push(Finding::new(place(&readme), "is missing or empty", "say what the crate is for"));
        }
        if !includes_readme(&source) {
            let fix = format!("begin it with `{README_INCLUDE}`, and move all other text into the README");
            findings.push(Finding::new(
                place(&root_file),
                "has crate documentation other than README.md",
                fix,
            ));
        }
    }
    Ok(findings)
}

fn root_file(krate: &Path) -> PathBuf {
    let library = krate.join("src/lib.rs");
    if library.is_file() { library } else { krate.join("src/main.rs") }
}

fn includes_readme(source: &str) -> bool {
    source.starts_with(README_INCLUDE) && !source.lines().any(|line| line.starts_with("//!"))
}

#[cfg(test)]
mod tests {
    use super::{README_INCLUDE, includes_readme};

    #[test]
    fn a_crate_is_documented_by_its_readme_alone() {
        assert!(includes_readme(&format!("{README_INCLUDE}\n\nmod a;\n")));
        assert!(!includes_readme(&format!("{README_INCLUDE}\n//! And more.\n")));
        assert!(!includes_readme("//! Something else.\n\nmod a;\n"));
        assert!(!includes_readme("mod a;\n"));
    }
}
