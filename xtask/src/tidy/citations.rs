//! Everything that comments cite exists in the repository under the given number.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context, Result};

use super::Finding;
use crate::workspace::Workspace;

const DOCUMENT: &str = "docs/specified-behaviour.md";
const WORD: &str = "behaviour";
const SECTION_SIGN: char = '\u{a7}';

/// Sources that readers cannot look up. Each is written in pieces, so that this file does not match.
const CLOSED_SOURCES: [&str; 4] = [
    concat!("spec", ".md"),
    concat!("contract", ".md"),
    concat!("the ", "spec "),
    concat!("the ", "specification"),
];

pub(super) fn check(workspace: &Workspace) -> Result<Vec<Finding>> {
    let document = std::fs::read_to_string(workspace.root.join(DOCUMENT))
        .with_context(|| format!("reading {DOCUMENT}"))?;
    let (numbers, mut findings) = document_numbers(&document);
    for file in workspace.list_files()? {
        // Binary files cite nothing.
        if let Ok(text) = std::fs::read_to_string(workspace.root.join(&file)) {
            findings.extend(check_file(&file, &text, &numbers));
        }
    }
    Ok(findings)
}

/// Returns the numbers of the sections (`## 5 Errors`) and of the paragraphs (`**5.3 …**`, also in lists), and
/// findings for duplicate numbers and for paragraphs outside their section.
fn document_numbers(document: &str) -> (BTreeSet<String>, Vec<Finding>) {
    let mut numbers = BTreeSet::new();
    let mut findings = Vec::new();
    let mut section = String::new();
    for (line_number, line) in (1..).zip(document.lines()) {
        let line = line.strip_prefix("- ").unwrap_or(line);
        let Some(rest) = line.strip_prefix("## ").or_else(|| line.strip_prefix("**")) else { continue };
        let Some((number, _)) = parse_number(rest) else { continue };
        match number.split_once('.') {
            None => section.clone_from(&number),
            Some((parent, _)) if parent == section => {}
            Some(_) => {
                let problem = format!("paragraph {number} is in section {section}");
                findings.push(Finding::new(
                    format!("{DOCUMENT}:{line_number}"),
                    problem,
                    "give it the section's number",
                ));
            }
        }
        if !numbers.insert(number.clone()) {
            let fix = "give the newer one the next number, at the end of its section";
            findings.push(Finding::new(
                format!("{DOCUMENT}:{line_number}"),
                format!("{number} occurs twice"),
                fix,
            ));
        }
    }
    (numbers, findings)
}

fn check_file(file: &Path, text: &str, numbers: &BTreeSet<String>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (line_number, line) in (1..).zip(text.lines()) {
        let place = format!("{}:{line_number}", file.display());
        let unknown = cited_numbers(line).into_iter().filter(|number| !numbers.contains(number));
        findings.extend(unknown.map(|number| {
            let fix = format!("cite a number of {DOCUMENT}, or write the paragraph there");
            Finding::new(place.as_str(), format!("cites {WORD} {number}, which does not exist"), fix)
        }));
        if line.trim_end().ends_with(&format!("({WORD}")) {
            let fix = format!("keep `({WORD} 5.3)` on one line");
            findings.push(Finding::new(place.as_str(), "splits a citation over two lines", fix));
        }
        if let Some(source) = closed_source(line) {
            let fix = format!("cite what a reader can open: `({WORD} 5.3)`, an RFC, a page of docs/");
            findings.push(Finding::new(
                place,
                format!("cites {source}, which is not in the repository"),
                fix,
            ));
        }
    }
    findings
}

/// Returns the numbers after each `behaviour` in a line: one, or several separated by commas.
fn cited_numbers(line: &str) -> Vec<String> {
    let mut cited = Vec::new();
    let line = line.to_ascii_lowercase();
    for (start, _) in line.match_indices(WORD) {
        let mut rest = line.get(start + WORD.len()..).and_then(|rest| rest.strip_prefix(' '));
        while let Some((number, after)) = rest.and_then(parse_number) {
            cited.push(number);
            rest = after.strip_prefix(", ");
        }
    }
    cited
}

/// Returns the number at the start of a string, `5` or `5.3`, and the rest.
fn parse_number(text: &str) -> Option<(String, &str)> {
    let (section, mut rest) = split_digits(text)?;
    let mut number = section.to_owned();
    if let Some((paragraph, after)) = rest.strip_prefix('.').and_then(split_digits) {
        number = format!("{section}.{paragraph}");
        rest = after;
    }
    Some((number, rest))
}

fn split_digits(text: &str) -> Option<(&str, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    (end > 0).then(|| text.split_at(end))
}

/// Returns a citation that readers cannot look up. A section sign is allowed only after an RFC.
fn closed_source(line: &str) -> Option<String> {
    if let Some(source) = CLOSED_SOURCES.iter().find(|source| line.contains(*source)) {
        return Some(format!("`{}`", source.trim_end()));
    }
    let is_bare = |start: usize| {
        let before = line.get(..start).unwrap_or_default().trim_end();
        let head = before.trim_end_matches(|c: char| c.is_ascii_digit());
        head.len() == before.len() || !head.ends_with("RFC ")
    };
    let mut signs = line.match_indices(SECTION_SIGN);
    signs.any(|(start, _)| is_bare(start)).then(|| format!("a bare `{SECTION_SIGN}`"))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{CLOSED_SOURCES, SECTION_SIGN, WORD, check_file, cited_numbers, document_numbers};

    const DOCUMENT: &str =
        "# Title\n\n## 1 One\n\n**1.1 A.** Text, 7.7.\n\n- **1.2 `b`**: text\n\n## 2 Two\n\n**2.1 C**\n";

    fn assert_findings(line: &str, expected: usize) {
        let (numbers, _) = document_numbers(DOCUMENT);
        assert_eq!(check_file(Path::new("a.rs"), line, &numbers).len(), expected, "{line}");
    }

    #[test]
    fn sections_and_paragraphs_are_numbered() {
        let (found, findings) = document_numbers(DOCUMENT);
        assert_eq!(found.into_iter().collect::<Vec<_>>(), ["1", "1.1", "1.2", "2", "2.1"]);
        assert!(findings.is_empty());
        let wrong = |text: &str| document_numbers(&format!("{DOCUMENT}{text}")).1.len();
        assert_eq!(wrong("**2.2 D.**"), 0);
        assert_eq!(wrong("**2.1 D.**"), 1);
        assert_eq!(wrong("**1.3 D.**"), 1);
        assert_eq!(wrong("## 2 Three"), 1);
    }

    #[test]
    fn a_citation_names_one_number_or_several() {
        assert_eq!(cited_numbers(&format!("/// Text ({WORD} 1.2).")), ["1.2"]);
        assert_eq!(cited_numbers(&format!("// As {WORD} 1, 1.10, 2.1 say")), ["1", "1.10", "2.1"]);
        assert_eq!(cited_numbers(concat!("// Behav", "iour 9: text")), ["9"]);
        assert!(cited_numbers(&format!("// its {WORD}, 3 times; specified-{WORD}.md")).is_empty());
    }

    #[test]
    fn citations_must_refer_to_existing_paragraphs() {
        assert_findings(&format!("// text ({WORD} 1.2, 2)"), 0);
        assert_findings(&format!("// text ({WORD} 1.3)"), 1);
        assert_findings(&format!("// text ({WORD} 1.1, 3.1, 4)"), 2);
        assert_findings(&format!("// text ({WORD}"), 1);
    }

    #[test]
    fn closed_sources_and_bare_signs_are_found() {
        for source in CLOSED_SOURCES {
            assert_findings(&format!("// as {source} says"), 1);
        }
        assert_findings(&format!("// text ({SECTION_SIGN}2.1)"), 1);
        assert_findings(&format!("// text (spec {SECTION_SIGN}2.1)"), 1);
        assert_findings(&format!("// text (RFC 9110 {SECTION_SIGN}5.1)"), 0);
        assert_findings("// the special case; special.md", 0);
    }
}
