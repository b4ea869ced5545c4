//! Copies a ledger in use, as described in docs/operating.md.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use guerdon_test_harness::Installation;

use super::super::context::{ATTACK_DATABASE, AttackContext};
use super::super::sql::SqlClient;
use crate::postgres::Cluster;
use crate::workspace::{command_output, string_field};

/// The database of the copy.
const RESTORED_DATABASE: &str = "attack_restored";
/// The prefix of the ids of old events: the last days of 2024.
const OLD_ID_PREFIX: &str = "01940000000070008000";

/// A backup and its restored copy.
pub(super) struct RestoredCopy<'a> {
    cluster: Option<&'a Cluster>,
    sql: SqlClient,
    installation: Installation,
    file: PathBuf,
    head: String,
}

impl<'a> RestoredCopy<'a> {
    /// Takes a backup of the attacked service.
    pub(super) fn back_up(context: &AttackContext<'a>, folder: &Path) -> Result<Self> {
        let (original, file) = (context.service.installation(), folder.join("backup"));
        let data = folder.join("restored");
        std::fs::create_dir(&data)?;
        let Some(cluster) = context.cluster else {
            let report = original.run_json(&["backup", &file.display().to_string()])?;
            let installation = original.at_location(&data, None);
            return Ok(Self {
                cluster: None,
                sql: SqlClient::for_file(context.setup.workspace, &installation.database_file())?,
                installation,
                file,
                head: string_field(&report, "head")?,
            });
        };
        let head = string_field(&original.run_json(&["seal"])?, "head")?;
        let mut dump = Command::new(cluster.program_path("pg_dump"));
        command_output(dump.arg("-Fc").arg("-f").arg(&file).arg(cluster.database_url(ATTACK_DATABASE)))?;
        let installation = original.at_location(&data, Some(cluster.database_url(RESTORED_DATABASE)));
        Ok(Self {
            cluster: Some(cluster),
            sql: SqlClient::for_cluster(cluster, RESTORED_DATABASE),
            installation,
            file,
            head,
        })
    }

    /// Restores the backup to a ledger without a running service.
    pub(super) fn restore(self) -> Result<Self> {
        let Some(cluster) = self.cluster else {
            self.installation.run_json(&["restore", &self.file.display().to_string()])?;
            return Ok(self);
        };
        cluster.run_sql(&cluster.url(), &format!("DROP DATABASE IF EXISTS {RESTORED_DATABASE}"))?;
        let url = cluster.create_database(RESTORED_DATABASE)?;
        let mut restore = Command::new(cluster.program_path("pg_restore"));
        restore.args(["--no-owner", "--exit-on-error", "--single-transaction", "-d", &url]).arg(&self.file);
        command_output(&mut restore)?;
        self.installation.run_json(&["migrate"])?;
        Ok(self)
    }

    pub(super) fn installation(&self) -> &Installation {
        &self.installation
    }

    /// Returns the head of the chain of seals at the time of the backup, or shortly before.
    pub(super) fn head(&self) -> &str {
        &self.head
    }

    /// Adds this many events that were delivered long ago at the first attempt, older than all others.
    pub(super) fn add_old_events(&self, count: u32) -> Result<()> {
        let (id, at) = if !self.sql.is_sqlite() {
            (format!("('{OLD_ID_PREFIX}' || lpad(to_hex(i), 12, '0'))::uuid"), "to_timestamp(1735142244)")
        } else {
            (format!("unhex('{OLD_ID_PREFIX}' || printf('%012x', i))"), "1735142244000000")
        };
        let (numbers, body, empty) = if !self.sql.is_sqlite() {
            (format!("generate_series(1, {count}) AS n(i)"), "convert_to('{}', 'UTF8')", "''::bytea")
        } else {
            let all = format!("SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {count}");
            (format!("(WITH RECURSIVE n(i) AS ({all}) SELECT i FROM n)"), "x'7b7d'", "x''")
        };
        let company = "(SELECT id, provider_id FROM companies LIMIT 1) AS c";
        self.sql.run_sql(&format!(
            "INSERT INTO events (position, id, company_id, provider_id, kind, journal_entry_id, body, created_at) \
             SELECT i - 1000000000, {id}, c.id, c.provider_id, 2, {id}, {body}, {at} FROM {numbers}, {company}; \
             INSERT INTO deliveries (event_id, company_id, provider_id, state, attempts, attempts_before_replay) \
             SELECT {id}, c.id, c.provider_id, 2, 1, 0 FROM {numbers}, {company}; \
             INSERT INTO attempts (event_id, id, company_id, number, started_at, duration_micros, status, response) \
             SELECT {id}, {id}, c.id, 1, {at}, 1000, 200, {empty} FROM {numbers}, {company}"
        ))
        .map(drop)
    }

    /// Returns the numbers of old events, of their deliveries and of their attempts.
    pub(super) fn count_old_events(&self) -> Result<(i64, i64, i64)> {
        let count = |table: &str, column: &str| -> Result<i64> {
            let (low, high) = if !self.sql.is_sqlite() {
                (format!("'{OLD_ID_PREFIX}000000000000'"), format!("'{OLD_ID_PREFIX}ffffffffffff'"))
            } else {
                (format!("x'{OLD_ID_PREFIX}000000000000'"), format!("x'{OLD_ID_PREFIX}ffffffffffff'"))
            };
            let query = format!("SELECT count(*) FROM {table} WHERE {column} BETWEEN {low} AND {high}");
            self.sql.run_sql(&query)?.trim().parse().context("a count")
        };
        Ok((count("events", "id")?, count("deliveries", "event_id")?, count("attempts", "event_id")?))
    }
}
