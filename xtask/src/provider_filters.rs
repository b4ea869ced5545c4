//! `cargo xtask provider-filters`: removes each filter by provider from the queries, and checks that a test fails.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use crate::workspace::{Workspace, run_command};

/// The folders with conditions on the provider of a row.
const FOLDERS: [&str; 2] = ["crates/domain/src/model", "crates/persistence/src/repo"];

/// Parts of the names of the tests that use objects of several providers.
const TESTS: [&str; 12] = [
    "audit_log",
    "authorization",
    "console",
    "contract",
    "deliveries",
    "events",
    "failed_requests",
    "feed",
    "moves",
    "notifications",
    "replays",
    "statistics",
];

/// Filters whose removal changes no result: a file, the beginning of the line, and why.
const WITHOUT_EFFECT: [(&str, &str, &str); 2] = [
    (
        "repo/feed.rs",
        "FROM events WHERE provider_id = ",
        "only decides where reading begins; the query that reads has the filter too",
    ),
    (
        "repo/replays.rs",
        "let page = sql::<Identifier>(\"SELECT event_id FROM deliveries",
        "only selects candidates; the update has the filter too",
    ),
];

/// The test programs, the fastest first.
const PROGRAMS: [&str; 2] = ["suite", "e2e"];

/// A condition of SQL that always holds, up to the compared value.
const ALWAYS_TRUE_SQL: &str = "'00000000-0000-0000-0000-000000000000' <> ";

/// Remove each provider filter in queries, one at a time, and check that a test on SQLite detects it
///
/// Works on a copy of the workspace under target/. Takes two to three minutes for each filter on two cores.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Only the filters in files whose path contains this text
    #[arg(value_name = "TEXT", default_value = "")]
    file: String,
}

/// A source file without one of its filters.
#[derive(Debug, PartialEq, Eq)]
struct Mutant {
    /// The line of the removed filter.
    line: usize,
    source: String,
}

pub(crate) fn run(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    let copy = TestedCopy::create(workspace)?;
    ensure!(copy.passes_tests()?, "the tests fail without any change");
    let (mut removed, mut undetected) = (0, Vec::new());
    for file in workspace.list_files()? {
        let path = file.to_string_lossy();
        if !FOLDERS.iter().any(|folder| path.starts_with(folder)) || !path.contains(&arguments.file) {
            continue;
        }
        let original = fs::read_to_string(workspace.root.join(&file))?;
        for Mutant { line, source } in remove_each_filter(&original) {
            copy.write(&file, &source)?;
            let is_detected = !copy.passes_tests().with_context(|| format!("{path}:{line}"))?;
            let text = original.lines().nth(line - 1).unwrap_or_default();
            let verdict = match find_reason(&path, text) {
                _ if is_detected => "detected".to_owned(),
                Some(reason) => format!("not detected, as expected: {reason}"),
                None => {
                    undetected.push(format!("{path}:{line}"));
                    "NOT DETECTED".to_owned()
                }
            };
            println!("{path}:{line}: {verdict}");
            removed += 1;
        }
        copy.write(&file, &original)?;
    }
    println!("{removed} filters removed, {} not detected without a known reason", undetected.len());
    ensure!(undetected.is_empty(), "no test detects the removal of {}", undetected.join(", "));
    Ok(())
}

/// Why the removal of the filter in this line has no effect, if it has none.
fn find_reason(path: &str, text: &str) -> Option<&'static str> {
    let is_same =
        |(file, line, _): &&(&str, &str, &str)| path.ends_with(file) && text.trim_start().starts_with(line);
    WITHOUT_EFFECT.iter().find(is_same).map(|(.., reason)| *reason)
}

/// A copy of the workspace with its own build folder.
struct TestedCopy<'a> {
    workspace: &'a Workspace,
    root: PathBuf,
    target: PathBuf,
}

impl<'a> TestedCopy<'a> {
    /// Copies the files, or updates an earlier copy.
    fn create(workspace: &'a Workspace) -> Result<Self> {
        let folder = workspace.target.join("provider-filters");
        let copy = Self { workspace, root: folder.join("workspace"), target: folder.join("target") };
        for file in workspace.list_files()? {
            copy.write(&file, &fs::read(workspace.root.join(&file))?)?;
        }
        Ok(copy)
    }

    /// Writes a file, unless it has this content already: cargo would compile its crate again.
    fn write(&self, file: &Path, content: impl AsRef<[u8]>) -> Result<()> {
        let path = self.root.join(file);
        if fs::read(&path).is_ok_and(|existing| existing == content.as_ref()) {
            return Ok(());
        }
        fs::create_dir_all(path.parent().unwrap_or(&self.root))?;
        fs::write(&path, content).with_context(|| path.display().to_string())
    }

    /// Builds the tests and runs them on SQLite until one of their programs fails. Returns whether all pass.
    fn passes_tests(&self) -> Result<bool> {
        for program in PROGRAMS {
            let build = ["--quiet", "--no-run"];
            run_command(self.test_command(program).args(build)).context("the tests do not compile")?;
            let output = self.test_command(program).arg("--").args(TESTS).output()?;
            let text = String::from_utf8_lossy(&output.stdout);
            let is_failure = |line: &&str| line.starts_with("test ") && line.ends_with(" FAILED");
            if let Some(failed) = text.lines().find(is_failure) {
                println!("{failed}");
            }
            if !output.status.success() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn test_command(&self, program: &str) -> Command {
        let mut cargo = self.workspace.workspace_command(&["test", "--test", program]);
        cargo.current_dir(&self.root).env("CARGO_TARGET_DIR", &self.target).env("TEST_ONLY", "sqlite");
        cargo
    }
}

/// Returns the source without its first filter, without its second one, and so on.
fn remove_each_filter(source: &str) -> Vec<Mutant> {
    let mut removed = Vec::new();
    for (position, _) in source.match_indices("provider_id.eq(Id(") {
        let column = start_of_column(source, position)..position + "provider_id".len();
        let after = source.get(position..).and_then(|rest| rest.find("))"));
        if let (Some(name), Some(length)) = (source.get(column.clone()), after) {
            removed.push((column.start..position + length + "))".len(), format!("{name}.eq({name})")));
        }
    }
    for compared in ["{}", "\""] {
        for (position, text) in source.match_indices(&format!("provider_id = {compared}")) {
            let start = start_of_column(source, position);
            let end = position + text.len() - compared.len();
            removed.push((start..end, ALWAYS_TRUE_SQL.to_owned()));
        }
    }
    for condition in ["owner != scope", "owner.0 != scope"] {
        let found = source.match_indices(condition);
        removed.extend(found.map(|(start, text)| (start..start + text.len(), format!("{text} && false"))));
    }
    let into_mutant = |(range, replacement): (std::ops::Range<usize>, String)| {
        let line = source.get(..range.start).unwrap_or_default().matches('\n').count() + 1;
        let mut changed = source.to_owned();
        changed.replace_range(range, &replacement);
        Mutant { line, source: changed }
    };
    let mut mutants: Vec<Mutant> = removed.into_iter().map(into_mutant).collect();
    mutants.sort_by_key(|mutant| mutant.line);
    mutants
}

/// Returns where the qualified name of the column at `position` begins.
fn start_of_column(source: &str, position: usize) -> usize {
    let before = source.get(..position).unwrap_or_default();
    let is_qualifier = |c: char| c.is_ascii_alphanumeric() || "_.:$".contains(c);
    before.trim_end_matches(is_qualifier).len()
}

#[cfg(test)]
mod tests {
    use super::remove_each_filter;

    #[test]
    fn each_kind_of_filter_is_removed() {
        let source = "a.filter($t::provider_id.eq(Id(x))).filter(c);\n\
            \"b WHERE d.provider_id = {} AND e\";\n\"WHERE provider_id = \");\nif owner.0 != scope {\n";
        let changed: Vec<_> = remove_each_filter(source)
            .into_iter()
            .map(|mutant| (mutant.line, mutant.source.lines().nth(mutant.line - 1).unwrap_or("").to_owned()))
            .collect();
        let always = "'00000000-0000-0000-0000-000000000000' <> ";
        let expected = [
            (1, "a.filter($t::provider_id.eq($t::provider_id)).filter(c);".to_owned()),
            (2, format!("\"b WHERE {always}{{}} AND e\";")),
            (3, format!("\"WHERE {always}\");")),
            (4, "if owner.0 != scope && false {".to_owned()),
        ];
        assert_eq!(changed, expected);
    }

    #[test]
    fn joins_and_insertions_are_no_filters() {
        assert_eq!(remove_each_filter("ON d.provider_id = providers.id; companies.provider_id == x"), []);
    }
}
