//! Every dependency of the workspace has a comment with its purpose.

use anyhow::{Context, Result};

use super::Finding;
use crate::workspace::Workspace;

pub(super) fn check(workspace: &Workspace) -> Result<Vec<Finding>> {
    let text = std::fs::read_to_string(workspace.root.join("Cargo.toml")).context("reading Cargo.toml")?;
    Ok(find_uncommented(&text))
}

fn find_uncommented(manifest: &str) -> Vec<Finding> {
    let mut inside = false;
    let mut findings = Vec::new();
    for (number, line) in (1..).zip(manifest.lines()) {
        if line.starts_with('[') {
            inside = line.trim() == "[workspace.dependencies]";
            continue;
        }
        let blank_or_comment = line.trim().is_empty() || line.starts_with('#');
        if inside && !blank_or_comment && !line.contains("path =") && !has_comment(line) {
            let fix = "end the line with `# what it is for`";
            findings.push(Finding::new(
                format!("Cargo.toml:{number}"),
                "a dependency has no comment with its purpose",
                fix,
            ));
        }
    }
    findings
}

/// Versions and features contain no `#`, so the first one begins the comment.
fn has_comment(line: &str) -> bool {
    line.split_once('#').is_some_and(|(_, comment)| !comment.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::find_uncommented;

    #[test]
    fn only_a_bare_dependency_is_found() {
        let manifest = "[workspace]\nx = 1\n[workspace.dependencies]\nown = { path = \"own\" }\n\n# Group\n\
                        url = \"2\" # addresses\nidna = \"1\"\nuuid = \"1\" #\n[profile.dev]\ndebug = 1\n";
        let places: Vec<_> = find_uncommented(manifest).into_iter().map(|finding| finding.place).collect();
        assert_eq!(places, ["Cargo.toml:8", "Cargo.toml:9"]);
    }
}
