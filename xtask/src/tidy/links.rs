//! Links between the documents lead to existing files and headings.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::Result;

use super::Finding;
use crate::workspace::Workspace;

pub(super) fn check(workspace: &Workspace) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for file in workspace.list_files()?.iter().filter(|file| is_document(file)) {
        let Ok(text) = std::fs::read_to_string(workspace.root.join(file)) else { continue };
        for (line, target) in local_links(&text) {
            if let Some(problem) = broken_link(&workspace.root, file, &text, target) {
                let place = format!("{}:{line}", file.display());
                findings.push(Finding::new(
                    place,
                    problem,
                    "use the current name of the file or the heading",
                ));
            }
        }
    }
    Ok(findings)
}

fn is_document(file: &Path) -> bool {
    file.extension().is_some_and(|extension| extension == "md")
}

/// Returns the targets of links within the repository, with their lines. A target with a colon is a URL or the name
/// of an item, which rustdoc checks.
fn local_links(text: &str) -> Vec<(usize, &str)> {
    let mut links = Vec::new();
    for (at, line) in prose_lines(text) {
        for part in line.split("](").skip(1) {
            let target = part.split_once(')').map_or(part, |(target, _)| target);
            if !target.contains(':') {
                links.push((at, target));
            }
        }
    }
    links
}

/// Returns the lines outside code blocks, with their numbers.
fn prose_lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut is_code = false;
    (1..).zip(text.lines()).filter(move |(_, line)| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence && !line.starts_with("    ")
    })
}

/// Returns a message if the target of a link does not exist; otherwise `None`.
fn broken_link(root: &Path, file: &Path, text: &str, target: &str) -> Option<String> {
    let (path, anchor) = target.split_once('#').map_or((target, None), |(path, anchor)| (path, Some(anchor)));
    let linked = root.join(file.parent().unwrap_or(Path::new(""))).join(path);
    if !path.is_empty() && !linked.exists() {
        return Some(format!("links to {path}, which does not exist"));
    }
    let anchor = anchor?;
    let has_it = if path.is_empty() {
        heading_anchors(text).contains(anchor)
    } else {
        std::fs::read_to_string(&linked).is_ok_and(|text| heading_anchors(&text).contains(anchor))
    };
    (!has_it).then(|| format!("links to {target}, but no heading has this anchor"))
}

/// Returns the anchors of the headings, as Markdown hosts create them.
fn heading_anchors(text: &str) -> BTreeSet<String> {
    let headings = prose_lines(text).filter(|(_, line)| line.starts_with('#'));
    headings.map(|(_, line)| heading_anchor(line.trim_start_matches('#').trim())).collect()
}

fn heading_anchor(heading: &str) -> String {
    let characters = heading.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    characters.collect::<String>().to_lowercase().replace(' ', "-")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{broken_link, heading_anchor, heading_anchors, local_links};

    #[test]
    fn only_links_in_prose_that_lead_into_the_repository_are_checked() {
        let text = "[a](b.md) and [c\nd](e.md#f)\n\n    [code](x.md)\n\n```\n[code](y.md)\n```\n[g](https://a.example) \
                    [h](crate::Item)\n[i](#j)\n";
        assert_eq!(local_links(text), [(1, "b.md"), (2, "e.md#f"), (10, "#j")]);
    }

    #[test]
    fn an_anchor_is_derived_from_a_heading() {
        assert_eq!(heading_anchor("5 Lists and paging"), "5-lists-and-paging");
        assert_eq!(heading_anchor("Health, signals, `stopping`"), "health-signals-stopping");
        assert!(heading_anchors("# A\n\n```\n# b\n```\n").iter().eq(["a"]));
    }

    #[test]
    fn a_link_leads_to_a_file_and_to_a_heading_of_it() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("docs")).unwrap();
        std::fs::write(folder.path().join("docs/b.md"), "## 1 One\n").unwrap();
        let check = |file: &str, target: &str, expected: bool| {
            let found = broken_link(folder.path(), Path::new(file), "# Here\n", target);
            assert_eq!(found.is_none(), expected, "{file} {target}: {found:?}");
        };
        check("README.md", "docs/b.md", true);
        check("README.md", "docs", true);
        check("README.md", "docs/c.md", false);
        check("README.md", "docs/b.md#1-one", true);
        check("README.md", "docs/b.md#1-two", false);
        check("README.md", "#here", true);
        check("README.md", "#there", false);
        check("docs/a.md", "b.md#1-one", true);
        check("docs/a.md", "../docs/b.md", true);
        check("docs/a.md", "docs/b.md", false);
    }
}
