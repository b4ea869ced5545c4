//! `cargo xtask tidy`: checks rules that the compiler cannot. Each file of this module is one kind of check.

mod citations;
mod cited_tests;
mod dependency_comments;
mod folder_cycles;
mod import_cycles;
mod language;
mod layering;
mod links;
mod metrics;
mod migrations;
mod quoted_messages;
mod readmes;
mod sources;

use anyhow::{Context, Result, bail};

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

/// Reads all source files of the crates into one string.
fn read_sources(workspace: &Workspace) -> Result<String> {
    let mut sources = String::new();
    for file in workspace.list_files()? {
        let is_in_src =
            file.starts_with("crates") && file.iter().nth(2).is_some_and(|folder| folder == "src");
        if is_in_src && file.extension().is_some_and(|extension| extension == "rs") {
            let text = std::fs::read_to_string(workspace.root.join(&file));
            sources.push_str(&text.with_context(|| file.display().to_string())?);
        }
    }
    Ok(sources)
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
    findings.extend(quoted_messages::check(workspace)?);
    findings.extend(readmes::check(workspace)?);
    findings.extend(citations::check(workspace)?);
    findings.extend(cited_tests::check(workspace)?);
    findings.extend(links::check(workspace)?);
    findings.extend(language::check(workspace)?);
    if findings.is_empty() {
        println!("tidy: no problems found");
        return Ok(());
    }
    for finding in &findings {
        println!("{}: {}\n    fix: {}", finding.place, finding.problem, finding.fix);
    }
    bail!("tidy found {} problems", findings.len())
}
