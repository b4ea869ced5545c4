//! Copies a ledger in use, as described in docs/operating.md.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::super::Siege;
use crate::harness::service::Ledger;
use crate::postgres::Cluster;
use crate::workspace::{output, text};

/// The names of the service's database and of the copy.
const ORIGINAL: &str = "siege";
const RESTORED: &str = "siege_restored";
/// The prefix of the ids of old events: the last days of 2024.
const OLD: &str = "01940000000070008000";

/// A backup and its restored copy.
pub(super) struct Copy<'a> {
    cluster: Option<&'a Cluster>,
    /// The program that runs SQL on the embedded database.
    sql: &'a Path,
    ledger: Ledger,
    file: PathBuf,
    head: String,
}

impl<'a> Copy<'a> {
    /// Takes a backup of the attacked service.
    pub(super) fn back_up(siege: &Siege<'a>, room: &Path) -> Result<Self> {
        let (original, file) = (siege.service.ledger(), room.join("backup"));
        let data = room.join("restored");
        std::fs::create_dir(&data)?;
        let Some(cluster) = siege.cluster else {
            let done = original.operate(&["backup", &file.display().to_string()])?;
            let ledger = original.at(&data, None);
            return Ok(Self { cluster: None, sql: siege.ceilings, ledger, file, head: text(&done, "head")? });
        };
        let head = text(&original.operate(&["seal"])?, "head")?;
        let mut dump = Command::new(cluster.program("pg_dump"));
        output(dump.arg("-Fc").arg("-f").arg(&file).arg(cluster.database_url(ORIGINAL)))?;
        let ledger = original.at(&data, Some(cluster.database_url(RESTORED)));
        Ok(Self { cluster: Some(cluster), sql: siege.ceilings, ledger, file, head })
    }

    /// Restores the backup to a ledger without a running service.
    pub(super) fn restore(self) -> Result<Self> {
        let Some(cluster) = self.cluster else {
            self.ledger.operate(&["restore", &self.file.display().to_string()])?;
            return Ok(self);
        };
        cluster.psql(&cluster.url(), &format!("DROP DATABASE IF EXISTS {RESTORED}"))?;
        let url = cluster.create_database(RESTORED)?;
        let mut restore = Command::new(cluster.program("pg_restore"));
        restore.args(["--no-owner", "--exit-on-error", "--single-transaction", "-d", &url]).arg(&self.file);
        output(&mut restore)?;
        self.ledger.operate(&["migrate"])?;
        Ok(self)
    }

    pub(super) fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Returns the head of the chain of seals at the time of the backup, or shortly before.
    pub(super) fn head(&self) -> &str {
        &self.head
    }

    /// Adds this many events that were delivered long ago at the first attempt, older than all others.
    pub(super) fn age(&self, count: u32) -> Result<()> {
        let (id, at) = if self.cluster.is_some() {
            (format!("('{OLD}' || lpad(to_hex(i), 12, '0'))::uuid"), "to_timestamp(1735142244)")
        } else {
            (format!("unhex('{OLD}' || printf('%012x', i))"), "1735142244000000")
        };
        let (numbers, body, yes) = if self.cluster.is_some() {
            (format!("generate_series(1, {count}) AS n(i)"), "convert_to('{}', 'UTF8')", "''::bytea")
        } else {
            let all = format!("SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {count}");
            (format!("(WITH RECURSIVE n(i) AS ({all}) SELECT i FROM n)"), "x'7b7d'", "x''")
        };
        let whose = "(SELECT id, provider_id FROM companies LIMIT 1) AS c";
        self.run(&format!(
            "INSERT INTO events (position, id, company_id, provider_id, kind, journal_entry_id, body, created_at) \
             SELECT i - 1000000000, {id}, c.id, c.provider_id, 2, {id}, {body}, {at} FROM {numbers}, {whose}; \
             INSERT INTO deliveries (event_id, company_id, provider_id, state, attempts, attempts_before_replay) \
             SELECT {id}, c.id, c.provider_id, 2, 1, 0 FROM {numbers}, {whose}; \
             INSERT INTO attempts (event_id, id, company_id, number, started_at, duration_micros, status, answer) \
             SELECT {id}, {id}, c.id, 1, {at}, 1000, 200, {yes} FROM {numbers}, {whose}"
        ))
        .map(drop)
    }

    /// Returns the numbers of old events, of their deliveries and of their attempts.
    pub(super) fn old(&self) -> Result<(i64, i64, i64)> {
        let count = |table: &str, column: &str| -> Result<i64> {
            let (low, high) = if self.cluster.is_some() {
                (format!("'{OLD}000000000000'"), format!("'{OLD}ffffffffffff'"))
            } else {
                (format!("x'{OLD}000000000000'"), format!("x'{OLD}ffffffffffff'"))
            };
            let query = format!("SELECT count(*) FROM {table} WHERE {column} BETWEEN {low} AND {high}");
            self.run(&query)?.trim().parse().context("a count")
        };
        Ok((count("events", "id")?, count("deliveries", "event_id")?, count("attempts", "event_id")?))
    }

    /// Runs SQL on the copy and returns its output.
    fn run(&self, sql: &str) -> Result<String> {
        match self.cluster {
            Some(cluster) => cluster.psql(&cluster.database_url(RESTORED), sql),
            None => output(Command::new(self.sql).arg("sql").arg(self.ledger.file()).arg(sql)),
        }
    }
}
