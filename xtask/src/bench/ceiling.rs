//! What plain programs do on the same machine where the service would be asked.

use std::io::{BufRead, BufReader};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result};

use super::plan::{Plan, Reads};
use super::service::Service;
use crate::workspace::{Workspace, output, run};

/// Whoever plain SQL is sent by, at a time.
const CLIENTS: &str = "8";
const THREADS: &str = "2";

const SCHEMA: &str = include_str!("plain/schema.sql");

/// A recognition as plain SQL.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Plain {
    /// Of one of many senders, one to a commit.
    One,
    /// Of one reserve.
    Reserve,
    /// To ten receivers.
    Ten,
}

impl Plain {
    fn script(self) -> &'static str {
        match self {
            Plain::One => include_str!("plain/one.sql"),
            Plain::Reserve => include_str!("plain/reserve.sql"),
            Plain::Ten => include_str!("plain/ten.sql"),
        }
    }
}

/// The program with the ceilings that cargo builds.
pub(super) struct Ceilings {
    program: PathBuf,
}

impl Ceilings {
    pub(super) fn build(workspace: &Workspace) -> Result<Self> {
        run(&mut workspace.cargo(&["build", "--release", "--locked", "--package", "guerdon-ceilings"]))?;
        Ok(Self { program: workspace.target.join("release").join("guerdon-ceilings") })
    }

    /// Recognitions a second on a SQLite file in this folder, so many to a commit.
    pub(super) fn sqlite(&self, folder: &Path, batch: u32, seconds: u64) -> Result<f64> {
        let mut command = Command::new(&self.program);
        command.arg("sqlite").arg(folder.join("ceiling.db"));
        command.args(["--batch", &batch.to_string(), "--seconds", &seconds.to_string()]);
        output(&mut command)?.trim().parse().context("the ceiling of SQLite says no rate")
    }

    /// Serves reads of a user from the service's database until it is dropped.
    pub(super) fn http(&self, service: &Service, database: &str, reads: &Reads<'_>) -> Result<Server> {
        let tls = service.data().join("tls");
        let mut command = Command::new(&self.program);
        command.arg("http").arg("--certificate").arg(tls.join("certificate.pem"));
        command.arg("--key").arg(tls.join("private_key.pem"));
        command.args(["--database", database, "--credentials", reads.credentials, "--user", reads.user]);
        let mut process = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
        let mut line = String::new();
        let told = process.stdout.take().context("the ceiling has no output")?;
        let mut server = Server { process, address: (Ipv4Addr::LOCALHOST, 0).into() };
        BufReader::new(told).read_line(&mut line)?;
        server.address.set_port(line.trim().parse().context("the ceiling says no port")?);
        Ok(server)
    }
}

/// A running server of the ceiling.
pub(super) struct Server {
    process: Child,
    pub(super) address: SocketAddr,
}

impl Drop for Server {
    fn drop(&mut self) {
        let ended = self.process.kill().and_then(|()| self.process.wait());
        if let Err(cause) = ended {
            eprintln!("the server of the ceiling cannot be ended: {cause}");
        }
    }
}

/// Plain SQL on a database of its own, in the cluster where the service has its.
pub(super) struct PlainSql {
    url: String,
    pgbench: PathBuf,
    folder: tempfile::TempDir,
}

impl PlainSql {
    pub(super) fn prepare(plan: &Plan<'_>) -> Result<Option<Self>> {
        let Some(cluster) = plan.cluster else { return Ok(None) };
        let url = cluster.create_database("plain")?;
        cluster.psql(&url, SCHEMA)?;
        let folder = tempfile::Builder::new().prefix("guerdon-plain-").tempdir()?;
        Ok(Some(Self { url, pgbench: cluster.program("pgbench"), folder }))
    }

    /// How many transactions a second.
    pub(super) fn transactions(&self, what: Plain, seconds: u64) -> Result<f64> {
        let script = self.folder.path().join("script.sql");
        std::fs::write(&script, what.script())?;
        let mut command = Command::new(&self.pgbench);
        command.args([
            "-n",
            "-M",
            "prepared",
            "-j",
            THREADS,
            "-c",
            CLIENTS,
            "-T",
            &seconds.to_string(),
            "-f",
        ]);
        command.arg(&script).arg(&self.url);
        let said = output(&mut command)?;
        let rate = said.lines().find_map(|it| it.strip_prefix("tps = ")?.split(' ').next()?.parse().ok());
        rate.context("pgbench says no rate")
    }
}
