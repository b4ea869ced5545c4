//! Runs the examples of the READMEs of the client packages, in their order, in the sandbox.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use super::{PYTHON, package};
use crate::dev::start_sandbox;
use crate::npm::package_program;
use crate::python::prepare_environment;
use crate::workspace::{Workspace, run_command};

/// Calls the receiver of the example with a request that is not signed.
const PYTHON_RECEIVER_CHECK: &str = "assert handle({}, b'{}') == 401\n";
const TYPESCRIPT_RECEIVER_CHECK: &str =
    "if ((await handle(new Headers(), new Uint8Array())) !== 401) process.exit(1);\n";

/// Runs the examples of each README as one program, because readers may paste all of them into one file.
pub(super) fn check_readme_examples(workspace: &Workspace, program: &Path) -> Result<()> {
    let (_sandbox, variables) = start_sandbox(program)?;
    for mut command in [python_program(workspace)?, typescript_program(workspace)?] {
        run_command(command.envs(variables.iter().cloned()))?;
    }
    Ok(())
}

fn python_program(workspace: &Workspace) -> Result<Command> {
    let package = package(workspace, "python");
    let tools = prepare_environment(workspace, "pytest", &PYTHON)?;
    let script = tools.join("readme.py");
    fs::write(&script, example_program(&package, "python")? + PYTHON_RECEIVER_CHECK)?;
    let mut command = Command::new(tools.join("bin").join("python"));
    command.arg(script).env("PYTHONPATH", package.join("src")).env("PYTHONDONTWRITEBYTECODE", "1");
    Ok(command)
}

/// The program imports the package by its name, so the package is built first.
fn typescript_program(workspace: &Workspace) -> Result<Command> {
    let package = package(workspace, "typescript");
    let folder = package.join("build").join("readme");
    fs::create_dir_all(&folder).with_context(|| format!("creating {}", folder.display()))?;
    let script = folder.join("readme.ts");
    fs::write(&script, example_program(&package, "ts")? + TYPESCRIPT_RECEIVER_CHECK)?;
    run_command(Command::new("npm").args(["run", "build", "--silent"]).current_dir(&package))?;
    let options =
        ["--module", "nodenext", "--target", "es2022", "--strict", "--skipLibCheck", "--types", "node"];
    run_command(package_program(&package, "tsc").args(options).arg(&script))?;
    let mut command = Command::new("node");
    command.arg(folder.join("readme.js"));
    Ok(command)
}

/// The examples in a language, joined.
fn example_program(package: &Path, language: &str) -> Result<String> {
    let file = package.join("README.md");
    let text = fs::read_to_string(&file).with_context(|| format!("reading {}", file.display()))?;
    let fence = format!("```{language}\n");
    let examples: Vec<&str> =
        text.split(&fence).skip(1).filter_map(|rest| rest.split("```\n").next()).collect();
    ensure!(examples.len() > 4, "{} has {} examples", file.display(), examples.len());
    Ok(examples.join("\n"))
}
