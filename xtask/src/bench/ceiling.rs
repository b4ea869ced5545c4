//! Runs minimal programs on the same machine, to compare the service with.

use std::fs::create_dir_all;
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};

use crate::guarded::{Guarded, StopSignal};
use crate::harness::service::{Service, free_address};
use crate::postgres::Cluster;
use crate::workspace::output;

/// The number of concurrent clients that send plain SQL.
const CLIENTS: &str = "8";
const THREADS: &str = "2";

const SCHEMA: &str = include_str!("plain/schema.sql");

/// A recognition in plain SQL.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Plain {
    /// By one of many senders, one per commit.
    One,
    /// By one reserve.
    Reserve,
    /// To ten receivers.
    Ten,
}

impl Plain {
    /// Returns the number of recognitions per transaction.
    pub(super) fn recognitions(self) -> f64 {
        if self == Plain::Ten { 10.0 } else { 1.0 }
    }

    fn script(self) -> &'static str {
        match self {
            Plain::One => include_str!("plain/one.sql"),
            Plain::Reserve => include_str!("plain/reserve.sql"),
            Plain::Ten => include_str!("plain/ten.sql"),
        }
    }
}

/// The user that is read, and the credentials of the client.
pub(super) struct Reads<'a> {
    pub(super) credentials: &'a str,
    pub(super) user: &'a str,
}

/// The program `guerdon-ceilings`.
pub(super) struct Ceilings {
    program: PathBuf,
}

impl Ceilings {
    /// Returns the program in this build folder.
    pub(super) fn in_folder(folder: &Path) -> Self {
        Self { program: folder.join("guerdon-ceilings") }
    }

    /// Returns the recognitions per second on an SQLite file in this folder, with `batch` of them per commit.
    pub(super) fn sqlite(&self, folder: &Path, batch: u32, seconds: u64) -> Result<f64> {
        let mut command = Command::new(&self.program);
        command.arg("sqlite").arg(folder.join("ceiling.db"));
        command.args(["--batch", &batch.to_string(), "--seconds", &seconds.to_string()]);
        output(&mut command)?.trim().parse().context("the ceiling of SQLite says no rate")
    }

    /// Starts a server for reads of a user from the service's database. It runs until it is dropped.
    pub(super) fn http(&self, service: &Service, database: &str, reads: &Reads<'_>) -> Result<Server> {
        let (tls, folder) = (service.data().join("tls"), service.data().join("ceiling"));
        create_dir_all(&folder)?;
        let address = free_address()?;
        let mut command = Command::new(&self.program);
        command.args(["http", "--listen", &address.to_string()]);
        command.arg("--certificate").arg(tls.join("certificate.pem"));
        command.arg("--key").arg(tls.join("private_key.pem"));
        command.args(["--database", database, "--credentials", reads.credentials, "--user", reads.user]);
        let mut server = Guarded::start(command, StopSignal::Terminate, &folder)?;
        let is_ready = || TcpStream::connect(address).is_ok();
        server.wait_until(Duration::from_secs(10), is_ready).context("the server of the ceiling")?;
        Ok(Server { address, _guarded: server })
    }
}

/// A running minimal server.
pub(super) struct Server {
    pub(super) address: SocketAddr,
    _guarded: Guarded,
}

/// Plain SQL on a separate database in the service's cluster.
pub(super) struct PlainSql {
    url: String,
    pgbench: PathBuf,
    script: PathBuf,
}

impl PlainSql {
    /// Creates the database. Scripts are written to `folder`.
    pub(super) fn prepare(cluster: &Cluster, folder: &Path) -> Result<Self> {
        let url = cluster.create_database("plain")?;
        cluster.psql(&url, SCHEMA)?;
        Ok(Self { url, pgbench: cluster.program("pgbench"), script: folder.join("plain.sql") })
    }

    /// Returns the transactions per second.
    pub(super) fn transactions(&self, what: Plain, seconds: u64) -> Result<f64> {
        std::fs::write(&self.script, what.script())?;
        let mut command = Command::new(&self.pgbench);
        command.args(["-n", "-M", "prepared", "-j", THREADS, "-c", CLIENTS, "-T", &seconds.to_string()]);
        command.arg("-f").arg(&self.script).arg(&self.url);
        let said = output(&mut command)?;
        let rate = said.lines().find_map(|line| line.strip_prefix("tps = ")?.split(' ').next()?.parse().ok());
        rate.context("pgbench says no rate")
    }
}
