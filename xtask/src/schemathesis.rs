//! `cargo xtask schemathesis`: requests made of the description, and answers held against it.

use std::path::Path;
use std::process::Command;

use anyhow::Result;

use crate::harness::service::{Database, Service};
use crate::postgres::Cluster;
use crate::python::environment;
use crate::workspace::{Workspace, run as run_command, text};

const PACKAGE: &str = "schemathesis==4.32.5";

/// Send a service what its description allows and what it does not, by schemathesis (PyPI), with all its checks
///
/// Starts a throw-away service on SQLite and on PostgreSQL. Fails where an answer is none that the description has, where what
/// is right is refused, or what is wrong is taken. Installs the tool under target/ the first time; needs Python 3.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// On this database only
    #[arg(long, value_name = "DATABASE")]
    database: Option<Database>,
    /// Go on for so long on each, some 100 requests a second; else each operation gets as many requests as `--examples` says
    #[arg(long, value_name = "S")]
    seconds: Option<u32>,
    /// How many requests of each kind an operation gets
    #[arg(long, value_name = "N", default_value_t = 50)]
    examples: u32,
    /// Where chance begins; another number makes other requests
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    seed: u64,
}

impl Arguments {
    /// What `ci` runs: more than two thousand requests on each.
    pub(crate) fn short() -> Self {
        Self { database: None, seconds: None, examples: 8, seed: 1 }
    }
}

pub(crate) fn run(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    let program = workspace.build_guerdon()?;
    let tool = environment(workspace, "schemathesis", &[PACKAGE])?.join("bin").join("schemathesis");
    for database in Database::chosen(arguments.database) {
        println!("on {}", database.name());
        let cluster = match database {
            Database::Sqlite => None,
            Database::Postgres => Some(Cluster::start_durable(workspace)?),
        };
        let data = tempfile::Builder::new().prefix("guerdon-schemathesis-").tempdir()?;
        let url = cluster
            .as_ref()
            .map(|it| anyhow::Ok((it.create_database("schemathesis")?, it.id())))
            .transpose()?;
        let service = Service::start_with(&program, data.path(), url, &[])?;
        attack(workspace, &tool, &service, arguments)?;
    }
    Ok(())
}

fn attack(workspace: &Workspace, tool: &Path, service: &Service, arguments: &Arguments) -> Result<()> {
    let words = ["provider", "create", "--name", "Schemathesis", "--manages-all-domain-resources"];
    let provider = service.operate(&words)?;
    let credentials = format!("{}:{}", text(&provider, "api_key")?, text(&provider, "api_secret")?);
    let folder = workspace.root.join("xtask").join("schemathesis");
    let base = service.base();
    let mut command = Command::new(tool);
    command
        .env("SCHEMATHESIS_HOOKS", folder.join("hooks.py"))
        .current_dir(service.data())
        .arg("--config-file")
        .arg(folder.join("schemathesis.toml"))
        .arg("run")
        .arg(format!("{base}/openapi.json"))
        .args(["--url", &base, "--tls-verify", "false", "--auth", &credentials])
        .args(["--checks", "all", "--mode", "all", "--continue-on-failure", "--no-color"])
        .args(["--max-examples", &arguments.examples.to_string(), "--seed", &arguments.seed.to_string()]);
    if let Some(seconds) = arguments.seconds {
        command.args(["--max-time", &seconds.to_string()]);
    }
    run_command(&mut command)
}
