//! Checks that the messages that the runbook quotes exist in the program.
//!
//! An engineer searches the runbook for the message in the log. A quotation is inline code that reads like a sentence:
//! it has at least three words and does not begin with the name of a program.

use anyhow::{Context, Result};

use super::{Finding, read_sources};
use crate::workspace::Workspace;

const RUNBOOK: &str = "docs/runbook.md";
/// The first words of commands.
const PROGRAMS: [&str; 11] =
    ["guerdon", "systemctl", "journalctl", "psql", "curl", "cat", "df", "du", "gdb", "iostat", "pidstat"];
/// Messages of SQLite.
const FOREIGN_MESSAGES: [&str; 1] = ["database or disk is full"];

pub(super) fn check(workspace: &Workspace) -> Result<Vec<Finding>> {
    let sources = join_continued_literals(&read_sources(workspace)?);
    let text = std::fs::read_to_string(workspace.root.join(RUNBOOK)).context(RUNBOOK)?;
    let findings = quotations(&text).into_iter().filter(|message| !is_printed(&sources, message));
    Ok(findings
        .map(|message| {
            let problem = format!("quotes \"{message}\", which the program does not print");
            Finding::new(RUNBOOK, problem, "quote a message of crates/*/src")
        })
        .collect())
}

/// Joins the lines of string literals that continue on the next line.
fn join_continued_literals(sources: &str) -> String {
    let mut parts = sources.split("\\\n");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |joined, part| joined + part.trim_start())
}

/// Returns the messages that the text quotes.
fn quotations(text: &str) -> Vec<&str> {
    let paragraphs = text.split("\n\n");
    let code = paragraphs.flat_map(|paragraph| paragraph.split('`').skip(1).step_by(2));
    code.filter(|span| {
        let first_word = span.split_whitespace().next().unwrap_or_default();
        let reads_like_text = span.starts_with(|first: char| first.is_ascii_lowercase())
            && !span.contains(['=', '"', '\n'])
            && span.split(' ').count() >= 3;
        reads_like_text && !PROGRAMS.contains(&first_word)
    })
    .collect()
}

/// Whether the sources contain every part of a message; `…` separates the parts.
fn is_printed(sources: &str, message: &str) -> bool {
    let mut parts = message.split(['…', '(', ')']).map(str::trim);
    FOREIGN_MESSAGES.contains(&message) || parts.all(|part| sources.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_messages_are_sentences_and_not_commands() {
        let text = "`guerdon mail list` shows `the disk … is full` and `a = b c`, `df -h /var`, `two words`";
        assert_eq!(quotations(text), ["the disk … is full"]);
    }

    #[test]
    fn all_parts_of_a_message_are_printed() {
        let sources = "bail!(\"the disk {disk} is full\")";
        assert!(is_printed(sources, "the disk … is full"));
        assert!(!is_printed(sources, "the disk … is broken"));
    }
}
