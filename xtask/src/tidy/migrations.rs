//! Both databases have the same migrations, each with a down.sql.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::Result;

use super::Finding;
use crate::workspace::{Workspace, list_subfolders};

const DATABASES: [&str; 2] = ["sqlite", "postgres"];

pub(super) fn check(workspace: &Workspace) -> Result<Vec<Finding>> {
    let folder = workspace.root.join("migrations");
    let mut names = BTreeSet::new();
    for database in DATABASES {
        for migration in list_subfolders(&folder.join(database))? {
            names.extend(migration.file_name().map(|name| name.to_string_lossy().into_owned()));
        }
    }
    let mut findings = Vec::new();
    for name in &names {
        for database in DATABASES {
            findings.extend(missing_files(&folder, database, name));
            let place = format!("migrations/{database}/{name}/up.sql");
            let text = std::fs::read_to_string(workspace.root.join(&place)).unwrap_or_default();
            findings.extend(unnamed_constraints(&text).map(|line| {
                let fix = "write CONSTRAINT and a name before CHECK: SQLite can drop only named constraints";
                Finding::new(format!("{place}:{line}"), "limits a number by a constraint without a name", fix)
            }));
        }
    }
    Ok(findings)
}

/// Returns the lines with a constraint on numbers that has no name, and so cannot be dropped by name.
fn unnamed_constraints(text: &str) -> impl Iterator<Item = usize> {
    let is_numeric_bound = |rule: &str| {
        let mut words = rule.split_whitespace();
        match (words.next(), words.next(), words.next()) {
            (Some(text), ..) if text.starts_with("length(") => false,
            (_, Some("BETWEEN"), Some(minimum)) => minimum.bytes().all(|byte| byte.is_ascii_digit()),
            (_, Some("IN"), Some(first)) => first != "(0,", // 0 and 1 are booleans
            _ => false,
        }
    };
    let is_nameless = move |line: &str| {
        let (before, rule) = line.split_once("CHECK (").unwrap_or(("CONSTRAINT", ""));
        !before.contains("CONSTRAINT") && is_numeric_bound(rule)
    };
    text.lines().enumerate().filter(move |line| is_nameless(line.1)).map(|line| line.0 + 1)
}

fn missing_files(folder: &Path, database: &str, name: &str) -> Vec<Finding> {
    ["up.sql", "down.sql"]
        .into_iter()
        .filter(|file| !folder.join(database).join(name).join(file).is_file())
        .map(|file| {
            let place = format!("migrations/{database}/{name}/{file}");
            Finding::new(place, "is missing", "write it; `cargo xtask migration new` creates all four files")
        })
        .collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_constraint_on_numbers_has_a_name() {
        let found = |text: &str| super::unnamed_constraints(text).collect::<Vec<_>>();
        assert_eq!(
            found("  kind INTEGER CHECK (kind BETWEEN 1 AND 3),\n  period CHECK (period IN (1, 2))"),
            [1, 2]
        );
        assert!(found("  kind INTEGER CONSTRAINT known_kind CHECK (kind BETWEEN 1 AND 3)").is_empty());
        assert!(
            found("  is INTEGER CHECK (is IN (0, 1)),\n  t TEXT CHECK (length(t) BETWEEN 1 AND 9)")
                .is_empty()
        );
    }
}
