//! Checks the content of files: length, width of comments (rustfmt does not wrap them), unfinished work, names of
//! databases, paths of a developer's machine.

use std::path::Path;

use anyhow::Result;

use super::Finding;
use crate::workspace::Workspace;

const FILE_LINES_MAX: usize = 500;
const COMMENT_COLUMNS_MAX: usize = 120;

/// Folders of a developer's machine. Each is written in two pieces, so that this file does not match.
const MACHINE_FOLDERS: [&str; 3] = [concat!("/", "work"), concat!("/", "root"), concat!("/", "home")];

/// Strings that sources must not contain, and how to fix them.
const FORBIDDEN_STRINGS: [(&str, &str); 2] =
    [("#[ignore", "run it, or delete it"), ("todo!(", "write it, or return an error that says so")];

const SLEEP: &str = "thread::sleep";
const SLEEP_REASON: &str = "// tidy: ";

pub(super) fn check(workspace: &Workspace) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for file in workspace.list_files()? {
        // Binary files contain nothing that these checks look for.
        if let Ok(text) = std::fs::read_to_string(workspace.root.join(&file)) {
            findings.extend(check_file(&file, &text));
        }
    }
    Ok(findings)
}

fn check_file(file: &Path, text: &str) -> Vec<Finding> {
    let is_rust = file.extension().is_some_and(|extension| extension == "rs");
    let lines = text.lines().count();
    let mut findings = Vec::new();
    if is_rust && lines > FILE_LINES_MAX {
        let problem = format!("has {lines} lines");
        findings.push(Finding::new(file.display().to_string(), problem, "split it by responsibility"));
    }
    let rust_of_a_crate = is_rust && file.starts_with("crates");
    let mut line_before = "";
    for (number, line) in (1..).zip(text.lines()) {
        let mut found = machine_path(line);
        if is_rust {
            found = found.or_else(|| wide_comment(line));
        }
        if rust_of_a_crate {
            found =
                found.or_else(|| forbidden_string(line, line_before)).or_else(|| backend_name(file, line));
        }
        if let Some((problem, fix)) = found {
            findings.push(Finding::new(format!("{}:{number}", file.display()), problem, fix));
        }
        line_before = line;
    }
    findings
}

fn wide_comment(line: &str) -> Option<(String, String)> {
    let columns = line.chars().count();
    let is_wide = columns > COMMENT_COLUMNS_MAX && line.trim_start().starts_with("//");
    is_wide.then(|| {
        (
            format!("a comment of {columns} columns"),
            format!("wrap it after at most {COMMENT_COLUMNS_MAX} columns"),
        )
    })
}

fn forbidden_string(line: &str, line_before: &str) -> Option<(String, String)> {
    if line.contains(SLEEP) && !line.contains(SLEEP_REASON) && !line_before.contains(SLEEP_REASON) {
        let fix = format!(
            "wait for a condition instead, or state the reason on the same line: `{SLEEP_REASON}reason`"
        );
        return Some((format!("{SLEEP} without a reason"), fix));
    }
    let (word, fix) = FORBIDDEN_STRINGS.iter().find(|(word, _)| line.contains(word))?;
    Some((format!("contains {word}"), (*fix).to_owned()))
}

fn backend_name(file: &Path, line: &str) -> Option<(String, String)> {
    let name = ["SqliteConnection", "PgConnection"].into_iter().find(|name| line.contains(name))?;
    if file.starts_with("crates/persistence") {
        return None;
    }
    Some((format!("uses {name} outside crates/persistence"), "access the database through a port".to_owned()))
}

fn machine_path(line: &str) -> Option<(String, String)> {
    let folder = MACHINE_FOLDERS.into_iter().find(|folder| names_folder(line, folder))?;
    Some((
        format!("contains a path of a developer's machine ({folder})"),
        "use a relative path, or a temporary folder".to_owned(),
    ))
}

/// Whether the line contains a path that begins with this folder, rather than a word or path that includes it.
fn names_folder(line: &str, folder: &str) -> bool {
    line.match_indices(folder).any(|(start, _)| {
        let before = line.get(..start).and_then(|text| text.chars().next_back());
        let after = line.get(start + folder.len()..).and_then(|text| text.chars().next());
        let continues = |next: char| next.is_alphanumeric() || "_-.".contains(next);
        let is_start = !before.is_some_and(|last| continues(last) || "/~*}>".contains(last));
        is_start && after == Some('/')
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{MACHINE_FOLDERS, check_file};

    fn assert_findings(file: &str, text: &str, expected: usize) {
        assert_eq!(check_file(Path::new(file), text).len(), expected, "{file}: {text}");
    }

    #[test]
    fn unfinished_work_is_found_in_crates_only() {
        assert_findings("crates/a/src/lib.rs", "todo!()", 1);
        assert_findings("xtask/src/main.rs", "todo!()", 0);
        assert_findings("crates/a/tests/b.rs", "    #[ignore = \"slow\"]", 1);
        assert_findings("crates/a/tests/b.rs", "std::thread::sleep(pause);", 1);
        assert_findings(
            "crates/a/tests/b.rs",
            "std::thread::sleep(pause); // tidy: polls another process",
            0,
        );
        assert_findings(
            "crates/a/tests/b.rs",
            "// tidy: polls another process\nstd::thread::sleep(pause);",
            0,
        );
    }

    #[test]
    fn backends_are_named_in_persistence_only() {
        assert_findings("crates/server/src/main.rs", "use diesel::PgConnection;", 1);
        assert_findings("crates/persistence/src/postgres.rs", "use diesel::PgConnection;", 0);
    }

    #[test]
    fn long_files_are_found() {
        assert_findings("xtask/src/a.rs", &"\n".repeat(500), 0);
        assert_findings("xtask/src/a.rs", &"\n".repeat(501), 1);
        assert_findings("Cargo.lock", &"\n".repeat(501), 0);
    }

    #[test]
    fn wide_comments_are_found_in_rust_files() {
        let widest = format!("    // {}é", "x".repeat(112));
        assert_findings("crates/a/src/lib.rs", &widest, 0);
        assert_findings("crates/a/src/lib.rs", &format!("{widest}x"), 1);
        assert_findings("crates/a/src/lib.rs", &format!("{}; // {}", "x".repeat(80), "y".repeat(60)), 0);
        assert_findings("README.md", &format!("{widest}x"), 0);
    }

    #[test]
    fn paths_of_a_machine_are_found_in_every_file() {
        let [work, root, home] = MACHINE_FOLDERS;
        assert_findings("README.md", &format!("cd {work}/main"), 1);
        assert_findings("README.md", &format!("\"{root}/.cargo\""), 1);
        assert_findings("README.md", &format!("{home}/somebody"), 1);
        assert_findings(
            "README.md",
            &format!("https://example.com{home}/page and ./a{work}/b and {root}s/"),
            0,
        );
    }
}
