//! `cargo xtask dev`: a throw-away service with something in it.

mod curl;
mod seed;

use std::io::Read;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};

use crate::guarded::{Guarded, StopSignal};
use crate::workspace::{Workspace, guerdon};
use curl::Client;
use seed::Sandbox;

/// Start a throw-away service with a provider, a company and funded users to play with
///
/// Prints the address, the credentials and three curl lines that work when pasted. Ctrl-C stops the service and
/// removes the folder. The ports are 8443 and 9090, or free ones where those are taken.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Use this database instead of a throw-away SQLite file; for PostgreSQL set GUERDON_MASTER_KEY to use it again
    #[arg(long, value_name = "URL")]
    database_url: Option<String>,
    /// Run the three printed lines, expect 201, 201 and 200, and stop
    #[arg(long)]
    check: bool,
}

impl Arguments {
    /// What `ci` runs: the README's first command and the lines it prints.
    pub(crate) fn check() -> Self {
        Self { database_url: None, check: true }
    }
}

/// Where the service is, and the variables by which `serve` and the commands beside it find the same things.
struct Service {
    program: PathBuf,
    data: PathBuf,
    provider_port: u16,
    operator_port: u16,
    variables: Vec<(&'static str, String)>,
}

pub(crate) fn run(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    let program = workspace.build_guerdon()?;
    let folder = tempfile::Builder::new().prefix("guerdon-dev-").tempdir()?;
    let service = Service::new(program, folder.path(), arguments)?;
    let mut server = Guarded::start(service.command(&["serve"]), StopSignal::Terminate, folder.path())?;
    server.wait_until(Duration::from_secs(60), || service.is_ready()).context("guerdon serve")?;

    let sandbox = Sandbox::seed(&service)?;
    let lines = sandbox.lines();
    println!("\nThe service answers at {}", service.address());
    println!("  certificate  {}", service.certificate().display());
    println!("  API key      {}\n  API secret   {}", sandbox.key(), sandbox.secret());
    println!("  operator     http://127.0.0.1:{}/readyz", service.operator_port);
    println!("\nTry it: create a user, send a recognition, read the balances.\n");
    for line in &lines {
        println!("{}\n", line.text);
    }
    if arguments.check {
        for line in &lines {
            line.check()?;
        }
        println!("The three lines answered as they should.");
        return Ok(());
    }
    println!("Ctrl-C stops it.");
    server.wait()
}

impl Service {
    fn new(program: PathBuf, data: &Path, arguments: &Arguments) -> Result<Self> {
        let provider_port = free_port(8443)?;
        let operator_port = free_port(9090)?;
        let mut variables = vec![
            ("GUERDON_DATA_DIR", data.display().to_string()),
            ("GUERDON_HTTP__LISTEN", format!("127.0.0.1:{provider_port}")),
            ("GUERDON_OPERATOR__LISTEN", format!("127.0.0.1:{operator_port}")),
            ("GUERDON_SERVICE_URL", format!("https://localhost:{provider_port}")),
        ];
        if let Some(url) = &arguments.database_url {
            variables.push(("GUERDON_DATABASE__URL", url.clone()));
            if std::env::var_os("GUERDON_MASTER_KEY").is_none() {
                variables.push(("GUERDON_MASTER_KEY", random_hex(32)?));
            }
        }
        Ok(Self { program, data: data.to_path_buf(), provider_port, operator_port, variables })
    }

    /// A `guerdon` command on this service's data.
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = guerdon(&self.program);
        command.args(arguments).current_dir(&self.data);
        command.envs(self.variables.iter().map(|(name, value)| (*name, value.as_str())));
        command
    }

    fn address(&self) -> String {
        format!("https://localhost:{}", self.provider_port)
    }

    fn certificate(&self) -> PathBuf {
        self.data.join("tls").join("certificate.pem")
    }

    fn is_ready(&self) -> bool {
        curl::status(&format!("http://127.0.0.1:{}/readyz", self.operator_port))
            .is_ok_and(|status| status == 200)
    }

    fn client(&self, key: String, secret: String) -> Client {
        Client::new(self.address(), self.certificate(), key, secret)
    }
}

/// The port, or one that the system chooses where it is taken.
fn free_port(wanted: u16) -> Result<u16> {
    let listener =
        TcpListener::bind(("127.0.0.1", wanted)).or_else(|_taken| TcpListener::bind(("127.0.0.1", 0)))?;
    Ok(listener.local_addr()?.port())
}

fn random_hex(bytes: usize) -> Result<String> {
    let mut random = vec![0; bytes];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut random)?;
    Ok(random.iter().map(|byte| format!("{byte:02x}")).collect())
}
