//! `cargo xtask client-generation`: tests API clients that public generators create from the OpenAPI description.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::harness::service::RunningService;
use crate::python::prepare_environment;
use crate::workspace::{Workspace, run_command, string_field};

/// The generator, and the packages that its client needs.
const PYTHON: [&str; 4] = ["openapi-python-client==0.29.1", "httpx", "attrs", "python-dateutil"];

/// Generate clients from docs/openapi.json with openapi-python-client (PyPI) and openapi-typescript (npm), and test
/// them
///
/// Each client creates a company, a user and an occasion on a throw-away service, has a recognition refused, reads
/// and updates. The first run installs the generators under target/. Needs Python 3 and npm.
#[derive(clap::Args)]
pub(crate) struct Arguments {}

pub(crate) fn run(workspace: &Workspace, _: &Arguments) -> Result<()> {
    let program = workspace.build_guerdon()?;
    let data = tempfile::Builder::new().prefix("guerdon-client-generation-").tempdir()?;
    let service = RunningService::start_with(&program, data.path(), None, &[])?;
    let arguments = ["provider", "create", "--name", "Generated", "--manages-all-domain-resources"];
    let provider = service.run_cli(&arguments)?;
    let certificate = data.path().join("tls").join("certificate.pem");
    let variables = [
        ("URL", format!("{}/v1", service.base_url())),
        ("API_KEY", string_field(&provider, "api_key")?),
        ("API_SECRET", string_field(&provider, "api_secret")?),
        ("CERTIFICATE", certificate.display().to_string()),
        ("NODE_EXTRA_CA_CERTS", certificate.display().to_string()),
    ];
    let run_smoke_test = |mut command: Command, name: &str| {
        println!("{name}");
        run_command(command.envs(variables.clone()))
    };
    run_smoke_test(generate_python_client(workspace)?, "openapi-python-client")?;
    run_smoke_test(generate_typescript_client(workspace)?, "openapi-typescript")
}

fn description_file(workspace: &Workspace) -> PathBuf {
    workspace.root.join("docs").join("openapi.json")
}

fn source_folder(workspace: &Workspace) -> PathBuf {
    workspace.root.join("xtask").join("client-generation")
}

fn generate_python_client(workspace: &Workspace) -> Result<Command> {
    let folder = prepare_environment(workspace, "openapi-python-client", &PYTHON)?;
    let program = |name: &str| folder.join("bin").join(name);
    let client = folder.join("generated");
    run_command(
        Command::new(program("openapi-python-client"))
            .args(["generate", "--overwrite", "--meta", "none", "--path"])
            .arg(description_file(workspace))
            .arg("--output-path")
            .arg(&client),
    )?;
    copy_into(&source_folder(workspace).join("smoke_test.py"), &folder)?;
    let mut command = Command::new(program("python"));
    command.arg(folder.join("smoke_test.py"));
    Ok(command)
}

fn generate_typescript_client(workspace: &Workspace) -> Result<Command> {
    let folder = workspace.target.join("tools").join("openapi-typescript");
    fs::create_dir_all(&folder)?;
    for name in ["package.json", "tsconfig.json", "smoke_test.ts"] {
        copy_into(&source_folder(workspace).join(name), &folder)?;
    }
    let run_here = |program: &str, arguments: &[&str]| {
        run_command(Command::new(program).args(arguments).current_dir(&folder))
    };
    if !folder.join("node_modules").is_dir() {
        run_here("npm", &["install", "--silent"])?;
    }
    let description = description_file(workspace).display().to_string();
    run_here("npx", &["openapi-typescript", &description, "-o", "schema.d.ts"])?;
    run_here("npx", &["tsc"])?;
    let mut command = Command::new("node");
    command.arg(folder.join("smoke_test.js"));
    Ok(command)
}

fn copy_into(file: &Path, folder: &Path) -> Result<()> {
    let name = file.file_name().with_context(|| format!("{} has no name", file.display()))?;
    fs::copy(file, folder.join(name)).with_context(|| format!("copying {}", file.display()))?;
    Ok(())
}
