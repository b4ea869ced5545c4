//! `cargo xtask clients`: tests the client packages for Python and TypeScript.

mod readme_examples;
mod standard_webhooks;

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::process::Command;

use anyhow::Result;

use self::readme_examples::check_readme_examples;
use self::standard_webhooks::check_standard_webhooks;
use crate::measurement::service::{Database, RunningService};
use crate::npm::install_packages;
use crate::python::prepare_environment;
use crate::workspace::{Workspace, run_command, string_field};

/// The PyPI packages that the Python client package and its tests need.
const PYTHON: [&str; 3] = ["httpx==0.28.1", "mypy==2.4.1", "pytest==9.2.0"];

/// Check the client packages of clients/python and clients/typescript, run the scenario of each on both databases and
/// the examples of its README in the sandbox; verify deliveries with the Standard Webhooks libraries
///
/// The first run installs the tools that the packages need from PyPI and npm. Needs Python 3.11 and Node 20 with npm.
#[derive(clap::Args)]
pub(crate) struct Arguments {}

pub(crate) fn run(workspace: &Workspace, _: &Arguments) -> Result<()> {
    let program = workspace.build_guerdon()?;
    println!("clients/python");
    check_python(workspace)?;
    println!("clients/typescript");
    check_typescript(workspace)?;
    for database in Database::one_or_all(None) {
        let data = tempfile::Builder::new().prefix("guerdon-clients-").tempdir()?;
        let cluster = database.start_cluster(workspace)?;
        let service_database = cluster.as_ref().map(|cluster| cluster.create_service_database("clients"));
        let service = RunningService::start(&program, data.path(), service_database.transpose()?, &[])?;
        println!("scenarios on {}", database.name());
        run_python_scenario(workspace, &service)?;
        run_typescript_scenario(workspace, &service)?;
        println!("Standard Webhooks on {}", database.name());
        check_standard_webhooks(workspace, &service)?;
    }
    println!("examples of the READMEs");
    check_readme_examples(workspace, &program)
}

/// Checks types and runs the unit tests.
fn check_python(workspace: &Workspace) -> Result<()> {
    let tools = prepare_environment(workspace, "pytest", &PYTHON)?;
    let mypy = tools.join("mypy").display().to_string();
    run_command(python_tool(workspace, "mypy")?.arg(format!("--cache-dir={mypy}")))?;
    run_command(python_tool(workspace, "pytest")?.args(["--quiet", "-p", "no:cacheprovider"]))
}

fn run_python_scenario(workspace: &Workspace, service: &RunningService) -> Result<()> {
    let scenario = package(workspace, "python").join("tests").join("scenario.py");
    run_command(
        python_tool(workspace, "python")?.arg(scenario).envs(scenario_environment(service, "python")?),
    )
}

/// A program of the environment in which the package is tested.
fn python_tool(workspace: &Workspace, name: &str) -> Result<Command> {
    let package = package(workspace, "python");
    let tools = prepare_environment(workspace, "pytest", &PYTHON)?;
    let mut command = Command::new(tools.join("bin").join(name));
    command.current_dir(&package).env("PYTHONPATH", package.join("src")).env("PYTHONDONTWRITEBYTECODE", "1");
    Ok(command)
}

/// Checks types and runs the unit tests.
fn check_typescript(workspace: &Workspace) -> Result<()> {
    install_packages(&package(workspace, "typescript"))?;
    run_command(&mut npm(workspace, &["test"]))
}

fn run_typescript_scenario(workspace: &Workspace, service: &RunningService) -> Result<()> {
    let variables = scenario_environment(service, "typescript")?;
    run_command(npm(workspace, &["run", "scenario"]).envs(variables))
}

fn npm(workspace: &Workspace, words: &[&str]) -> Command {
    let mut command = Command::new("npm");
    command.args(words).arg("--silent").current_dir(package(workspace, "typescript"));
    command
}

fn package(workspace: &Workspace, name: &str) -> PathBuf {
    workspace.root.join("clients").join(name)
}

/// The service for a scenario, with a separate provider, and the command that deposits points.
fn scenario_environment(service: &RunningService, name: &str) -> Result<Vec<(OsString, OsString)>> {
    let provider =
        service.run_cli(&["provider", "create", "--name", name, "--manages-all-domain-resources"])?;
    let certificate = service.data_folder().join("tls").join("certificate.pem").display().to_string();
    let arguments = ["reserve", "deposit", "{company}", "--points", "{points}"];
    let deposit = service.installation().command(&arguments);
    let words: Vec<_> = [deposit.get_program()].into_iter().chain(deposit.get_args()).collect();
    let variables = [
        ("SCENARIO_URL", service.base_url().into()),
        ("SCENARIO_API_KEY", string_field(&provider, "api_key")?.into()),
        ("SCENARIO_API_SECRET", string_field(&provider, "api_secret")?.into()),
        ("SCENARIO_CA", certificate.clone().into()),
        ("SCENARIO_DEPOSIT", words.join(OsStr::new(" "))),
        ("NODE_EXTRA_CA_CERTS", certificate.into()),
    ];
    let settings = deposit.get_envs().filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned())));
    Ok(variables.into_iter().map(|(name, value)| (name.into(), value)).chain(settings).collect())
}
