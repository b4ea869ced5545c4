//! Runs minimal programs on the same machine, to compare the service with.

use std::fs::create_dir_all;
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};
use guerdon_test_harness::{ProcessGuard, StopSignal};

use crate::measurement::service::{RunningService, free_address};
use crate::postgres::Cluster;
use crate::workspace::command_output;

/// The number of concurrent clients that send plain SQL.
const CLIENTS: &str = "8";
const THREADS: &str = "2";

const SCHEMA: &str = include_str!("plain_sql/schema.sql");

/// A kind of recognition in plain SQL.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum SqlWorkload {
    /// A recognition from one of many senders, committed separately.
    OneReceiver,
    /// A recognition from one reserve, which all recognitions share.
    Reserve,
    /// Recognitions to ten receivers in one transaction.
    TenReceivers,
}

impl SqlWorkload {
    /// Returns the number of recognitions per transaction.
    pub(super) fn recognitions_per_transaction(self) -> f64 {
        if self == SqlWorkload::TenReceivers { 10.0 } else { 1.0 }
    }

    fn pgbench_script(self) -> &'static str {
        match self {
            SqlWorkload::OneReceiver => include_str!("plain_sql/one_receiver.sql"),
            SqlWorkload::Reserve => include_str!("plain_sql/reserve.sql"),
            SqlWorkload::TenReceivers => include_str!("plain_sql/ten_receivers.sql"),
        }
    }
}

/// The user that is read, and the credentials of the client.
pub(super) struct ReadTarget<'a> {
    pub(super) credentials: &'a str,
    pub(super) user: &'a str,
}

/// The program `guerdon-baseline`.
pub(super) struct BaselineProgram {
    program: PathBuf,
}

impl BaselineProgram {
    /// Returns the program in this build folder.
    pub(super) fn in_folder(folder: &Path) -> Self {
        Self { program: folder.join("guerdon-baseline") }
    }

    /// Returns the recognitions per second on an SQLite file in this folder, with `batch` of them per commit.
    pub(super) fn measure_sqlite(&self, folder: &Path, batch: u32, seconds: u64) -> Result<f64> {
        let mut command = Command::new(&self.program);
        command.arg("sqlite").arg(folder.join("baseline.db"));
        command.args(["--batch", &batch.to_string(), "--seconds", &seconds.to_string()]);
        command_output(&mut command)?.trim().parse().context("the SQLite baseline printed no rate")
    }

    /// Starts a server for reads of a user from the service's database. It runs until it is dropped.
    pub(super) fn start_http_server(
        &self,
        service: &RunningService,
        database: &str,
        target: &ReadTarget<'_>,
    ) -> Result<BaselineServer> {
        let (tls, folder) = (service.data_folder().join("tls"), service.data_folder().join("baseline"));
        create_dir_all(&folder)?;
        let address = free_address()?;
        let mut command = Command::new(&self.program);
        command.args(["http", "--listen", &address.to_string()]);
        command.arg("--certificate").arg(tls.join("certificate.pem"));
        command.arg("--key").arg(tls.join("private_key.pem"));
        command.args(["--database", database, "--credentials", target.credentials, "--user", target.user]);
        let mut server = ProcessGuard::start(command, StopSignal::Terminate, Some(&folder))?;
        let is_ready = || TcpStream::connect(address).is_ok();
        server.wait_until(Duration::from_secs(10), is_ready).context("the baseline server")?;
        Ok(BaselineServer { address, _process: server })
    }
}

/// A running minimal server.
pub(super) struct BaselineServer {
    pub(super) address: SocketAddr,
    _process: ProcessGuard,
}

/// Plain SQL on a separate database in the service's cluster.
pub(super) struct PlainSqlDatabase {
    url: String,
    pgbench: PathBuf,
    script: PathBuf,
}

impl PlainSqlDatabase {
    /// Creates the database. Scripts are written to `folder`.
    pub(super) fn create(cluster: &Cluster, folder: &Path) -> Result<Self> {
        let url = cluster.create_database("plain")?;
        cluster.run_sql(&url, SCHEMA)?;
        Ok(Self { url, pgbench: cluster.program_path("pgbench"), script: folder.join("plain.sql") })
    }

    /// Returns the transactions per second.
    pub(super) fn transactions_per_second(&self, workload: SqlWorkload, seconds: u64) -> Result<f64> {
        std::fs::write(&self.script, workload.pgbench_script())?;
        let mut command = Command::new(&self.pgbench);
        command.args(["-n", "-M", "prepared", "-j", THREADS, "-c", CLIENTS, "-T", &seconds.to_string()]);
        command.arg("-f").arg(&self.script).arg(&self.url);
        let printed = command_output(&mut command)?;
        let rate =
            printed.lines().find_map(|line| line.strip_prefix("tps = ")?.split(' ').next()?.parse().ok());
        rate.context("pgbench printed no rate")
    }
}
