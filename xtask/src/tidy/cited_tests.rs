//! The tests that documents cite as evidence exist.
//!
//! A citation is inline code of the form `file::name`. The file is its path without `crates/` and `.rs`:
//! `server/tests/crash::name_of_the_test`. Tests in contracts that are macros cannot be cited.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result};

use super::Finding;
use crate::workspace::Workspace;

/// The documents with tables of tests.
const DOCUMENTS: [&str; 2] = ["docs/reliability.md", "docs/security-review.md"];

pub(super) fn check(workspace: &Workspace) -> Result<Vec<Finding>> {
    let mut tests = BTreeMap::new();
    for file in workspace.list_files()? {
        let Some(name) = citable_name(&file.to_string_lossy()) else { continue };
        let source = std::fs::read_to_string(workspace.root.join(&file));
        tests.insert(name, test_functions(&source.with_context(|| file.display().to_string())?));
    }
    let mut findings = Vec::new();
    for document in DOCUMENTS {
        let text = std::fs::read_to_string(workspace.root.join(document)).context(document)?;
        findings.extend(check_document(document, &text, &tests));
    }
    Ok(findings)
}

/// `crates/server/tests/crash.rs` is cited as `server/tests/crash`, and tests of xtask as `xtask/src/…`.
fn citable_name(file: &str) -> Option<String> {
    let name = file.strip_suffix(".rs")?;
    name.strip_prefix("crates/").or_else(|| name.starts_with("xtask/").then_some(name)).map(str::to_owned)
}

/// Returns the names of the functions that follow a test attribute.
fn test_functions(source: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut is_test = false;
    for line in source.lines().map(str::trim) {
        if line.starts_with("#[test]") || (line.starts_with("#[") && line.contains("::test")) {
            is_test = true;
        } else if is_test && let Some((_, rest)) = line.split_once("fn ") {
            names.insert(rest.split(['(', '<']).next().unwrap_or_default().to_owned());
            is_test = false;
        }
    }
    names
}

fn check_document(document: &str, text: &str, tests: &BTreeMap<String, BTreeSet<String>>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (line_number, line) in (1..).zip(text.lines()) {
        for (file, name) in citations(line) {
            let problem = match tests.get(file) {
                None => format!("cites a test in {file}.rs, which does not exist"),
                Some(names) if !names.contains(name) => {
                    format!("cites the test {name}, which {file}.rs does not have")
                }
                Some(_) => continue,
            };
            let fix = "cite an existing test as `server/tests/crash::name_of_the_test`, or list a gap";
            findings.push(Finding::new(format!("{document}:{line_number}"), problem, fix));
        }
    }
    findings
}

/// Returns the file and the name of each test that a line cites.
fn citations(line: &str) -> Vec<(&str, &str)> {
    let spans = line.split('`').skip(1).step_by(2);
    let is_path = |file: &str| file.contains("/src/") || file.contains("/tests/");
    spans.filter_map(|span| span.rsplit_once("::").filter(|(file, _)| is_path(file))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(line: &str) -> Vec<String> {
        let source = "#[test]\nfn works() {}\n#[tokio::test(start_paused = true)]\nasync fn waits() {}\nfn helper() {}\n";
        let tests = BTreeMap::from([("server/tests/crash".to_owned(), test_functions(source))]);
        check_document("a.md", line, &tests).into_iter().map(|finding| finding.problem).collect()
    }

    #[test]
    fn cited_tests_must_exist() {
        assert!(
            problems("`server/tests/crash::works`, `server/tests/crash::waits`, `Duration::max`").is_empty()
        );
        assert_eq!(
            problems("`server/tests/crash::helper`"),
            ["cites the test helper, which server/tests/crash.rs does not have"]
        );
        assert_eq!(
            problems("| a | `server/tests/none::works` |"),
            ["cites a test in server/tests/none.rs, which does not exist"]
        );
    }

    #[test]
    fn files_are_cited_below_crates_or_in_xtask() {
        assert_eq!(citable_name("crates/domain/src/a.rs").as_deref(), Some("domain/src/a"));
        assert_eq!(citable_name("xtask/src/a.rs").as_deref(), Some("xtask/src/a"));
        assert_eq!(citable_name("clients/a.rs"), None);
    }
}
