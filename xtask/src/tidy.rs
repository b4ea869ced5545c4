//! `cargo xtask tidy`: checks what no compiler checks. Each file of this module is one kind of check.

mod citations;
mod dependency_comments;
mod folder_cycles;
mod import_cycles;
mod language;
mod layering;
mod links;
mod metrics;
mod migrations;
mod readmes;
mod sources;

use anyhow::{Result, bail};

use crate::workspace::Workspace;

/// A violation and how to fix it.
struct Finding {
    place: String,
    problem: String,
    fix: String,
}

impl Finding {
    fn new(place: impl Into<String>, problem: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { place: place.into(), problem: problem.into(), fix: fix.into() }
    }
}

/// Collects all findings, prints each with its fix, and fails if there are any.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    let mut findings = layering::check(workspace)?;
    let imports = import_cycles::read_imports(workspace)?;
    findings.extend(import_cycles::check(&imports));
    findings.extend(folder_cycles::check(&imports));
    findings.extend(dependency_comments::check(workspace)?);
    findings.extend(sources::check(workspace)?);
    findings.extend(migrations::check(workspace)?);
    findings.extend(metrics::check(workspace)?);
    findings.extend(readmes::check(workspace)?);
    findings.extend(citations::check(workspace)?);
    findings.extend(links::check(workspace)?);
    findings.extend(language::check(workspace)?);
    if findings.is_empty() {
        println!("tidy: nothing found");
        return Ok(());
    }
    for finding in &findings {
        println!("{}: {}\n    fix: {}", finding.place, finding.problem, finding.fix);
    }
    bail!("tidy found {} things to fix", findings.len())
}
