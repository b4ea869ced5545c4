//! `cargo xtask tidy`: checks what no compiler checks. Each file of this module is one kind of check.

mod arrows;
mod circles;
mod citations;
mod dependencies;
mod folders;
mod language;
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
    mend: String,
}

impl Finding {
    fn new(place: impl Into<String>, problem: impl Into<String>, mend: impl Into<String>) -> Self {
        Self { place: place.into(), problem: problem.into(), mend: mend.into() }
    }
}

/// Collects all findings, prints each with its fix, and fails if there are any.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    let mut findings = arrows::check(workspace)?;
    let imports = circles::read_arrows(workspace)?;
    findings.extend(circles::check(&imports));
    findings.extend(folders::check(&imports));
    findings.extend(dependencies::check(workspace)?);
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
        println!("{}: {}\n    mend: {}", finding.place, finding.problem, finding.mend);
    }
    bail!("tidy found {} things to mend", findings.len())
}
