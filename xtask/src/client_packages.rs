//! `cargo xtask clients`: tests the client packages for Python and TypeScript.

mod readme_examples;
mod standard_webhooks;

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::process::Command;

use anyhow::Result;

use self::readme_examples::check_readme_examples;
use self::standard_webhooks::check_standard_webhooks;
use crate::harness::service::RunningService;
use crate::npm::install_packages;
use crate::python::prepare_environment;
use crate::workspace::{Workspace, run_command, string_field};

/// What the package for Python needs, and its tests.
const PYTHON: [&str; 3] = ["httpx==0.28.1", "mypy==2.4.1", "pytest==9.2.0"];

/// Check the client packages of clients/python and clients/typescript, run the scenario of each on a throw-away service
/// and the examples of its README in the sandbox; verify deliveries with the Standard Webhooks libraries
///
/// The first run installs the tools that the packages need from PyPI and npm. Needs Python 3.11 and Node 20 with npm.
#[derive(clap::Args)]
pub(crate) struct Arguments {}

pub(crate) fn run(workspace: &Workspace, _: &Arguments) -> Result<()> {
    let program = workspace.build_guerdon()?;
    let data = tempfile::Builder::new().prefix("guerdon-clients-").tempdir()?;
    let service = RunningService::start_with(&program, data.path(), None, &[])?;
    println!("clients/python");
    check_python(workspace, &service)?;
    println!("clients/typescript");
    check_typescript(workspace, &service)?;
    println!("Standard Webhooks");
    check_standard_webhooks(workspace, &service)?;
    println!("examples of the READMEs");
    check_readme_examples(workspace, &program)
}

fn check_python(workspace: &Workspace, service: &RunningService) -> Result<()> {
    let package = package(workspace, "python");
    let tools = prepare_environment(workspace, "pytest", &PYTHON)?;
    let tool = |name: &str| {
        let mut command = Command::new(tools.join("bin").join(name));
        command
            .current_dir(&package)
            .env("PYTHONPATH", package.join("src"))
            .env("PYTHONDONTWRITEBYTECODE", "1");
        command
    };
    run_command(tool("mypy").arg(format!("--cache-dir={}", tools.join("mypy").display())))?;
    run_command(tool("pytest").args(["--quiet", "-p", "no:cacheprovider"]))?;
    let scenario = package.join("tests").join("scenario.py");
    run_command(tool("python").arg(scenario).envs(scenario_environment(service, "python")?))
}

fn check_typescript(workspace: &Workspace, service: &RunningService) -> Result<()> {
    let package = package(workspace, "typescript");
    let npm = |words: &[&str]| {
        let mut command = Command::new("npm");
        command.args(words).arg("--silent").current_dir(&package);
        command
    };
    install_packages(&package)?;
    run_command(&mut npm(&["test"]))?;
    run_command(npm(&["run", "scenario"]).envs(scenario_environment(service, "typescript")?))
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
    let deposit = service.installation().cli_command(&arguments);
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
