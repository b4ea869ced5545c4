//! Both databases have the same migrations, each with its way back.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::Result;

use super::Finding;
use crate::workspace::{Workspace, subfolders};

const DATABASES: [&str; 2] = ["sqlite", "postgres"];

pub(super) fn check(workspace: &Workspace) -> Result<Vec<Finding>> {
    let folder = workspace.root.join("migrations");
    let mut names = BTreeSet::new();
    for database in DATABASES {
        for migration in subfolders(&folder.join(database))? {
            names.extend(migration.file_name().map(|name| name.to_string_lossy().into_owned()));
        }
    }
    let mut findings = Vec::new();
    for name in &names {
        for database in DATABASES {
            findings.extend(missing(&folder, database, name));
        }
    }
    Ok(findings)
}

fn missing(folder: &Path, database: &str, name: &str) -> Vec<Finding> {
    ["up.sql", "down.sql"]
        .into_iter()
        .filter(|file| !folder.join(database).join(name).join(file).is_file())
        .map(|file| {
            let place = format!("migrations/{database}/{name}/{file}");
            Finding::new(place, "is missing", "write it; `cargo xtask migration new` makes all four files")
        })
        .collect()
}
