//! A crate's README is its documentation.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::Finding;
use crate::workspace::{Workspace, subfolders};

pub(super) fn check(workspace: &Workspace) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for krate in subfolders(&workspace.root.join("crates"))? {
        let place = krate.strip_prefix(&workspace.root)?.join("README.md").display().to_string();
        let wanted = documentation(&krate)?;
        if wanted.trim().is_empty() {
            findings.push(Finding::new(
                place,
                "the crate has no `//!` documentation",
                "say what the crate is for",
            ));
        } else if std::fs::read_to_string(krate.join("README.md")).ok().as_deref() != Some(wanted.as_str()) {
            findings.push(Finding::new(
                place,
                "differs from the crate's documentation",
                "cargo xtask tidy --fix",
            ));
        }
    }
    Ok(findings)
}

/// Writes every README from its crate's documentation.
pub(super) fn write(workspace: &Workspace) -> Result<()> {
    for krate in subfolders(&workspace.root.join("crates"))? {
        let text = documentation(&krate)?;
        if !text.trim().is_empty() {
            let readme = krate.join("README.md");
            std::fs::write(&readme, text).with_context(|| format!("writing {}", readme.display()))?;
        }
    }
    Ok(())
}

fn documentation(krate: &Path) -> Result<String> {
    let root_file = root_file(krate);
    let text =
        std::fs::read_to_string(&root_file).with_context(|| format!("reading {}", root_file.display()))?;
    Ok(inner_docs(&text))
}

fn root_file(krate: &Path) -> PathBuf {
    let library = krate.join("src/lib.rs");
    if library.is_file() { library } else { krate.join("src/main.rs") }
}

fn inner_docs(source: &str) -> String {
    source
        .lines()
        .skip_while(|line| !line.starts_with("//!"))
        .map_while(|line| line.strip_prefix("//!"))
        .map(|line| format!("{}\n", line.strip_prefix(' ').unwrap_or(line)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::inner_docs;

    #[test]
    fn the_first_block_of_inner_comments_is_the_readme() {
        let source = "//! # Title\n//!\n//!     code\n\nmod a;\n//! not this\n";
        assert_eq!(inner_docs(source), "# Title\n\n    code\n");
        assert_eq!(inner_docs("mod a;\n"), "");
    }
}
