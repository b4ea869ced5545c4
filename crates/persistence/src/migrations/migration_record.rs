//! The record of migrations in a database, and the decision whether this program can work with it.

use diesel::prelude::*;
use diesel::sql_types::{Bool, Integer, Nullable, Text};

use super::migration::Migration;
use super::script::Script;
use crate::access::OpenError;

/// `reached` is the last key, as a literal, that a step in batches has completed; `applied_at` is null while
/// the migration is in progress.
pub(super) const CREATE_RECORD_TABLE: &str = "CREATE TABLE IF NOT EXISTS schema_migrations (
  version text NOT NULL PRIMARY KEY,
  name text NOT NULL,
  checksum text NOT NULL,
  floor text NOT NULL,
  steps_done integer NOT NULL,
  reached text,
  begun_at text NOT NULL DEFAULT CURRENT_TIMESTAMP,
  applied_at text
)";

pub(super) const SELECT_APPLIED: &str = "SELECT version, name, checksum, floor, steps_done, reached, \
    applied_at IS NOT NULL AS finished FROM schema_migrations ORDER BY version";

/// A migration that was applied or started.
#[derive(Debug, QueryableByName)]
pub(super) struct AppliedMigration {
    #[diesel(sql_type = Text)]
    version: String,
    #[diesel(sql_type = Text)]
    name: String,
    #[diesel(sql_type = Text)]
    checksum: String,
    #[diesel(sql_type = Text)]
    floor: String,
    #[diesel(sql_type = Integer)]
    steps_done: i32,
    #[diesel(sql_type = Nullable<Text>)]
    reached: Option<String>,
    #[diesel(sql_type = Bool)]
    finished: bool,
}

/// A migration to run, and the number of its steps that are already done.
#[derive(Debug)]
pub(super) struct PendingMigration<'a> {
    pub migration: &'a Migration,
    pub script: Script,
    /// Whether it was started.
    pub was_started: bool,
    pub steps_done: usize,
    /// The last key that the next step has completed, if it is a step in batches that was interrupted.
    pub last_completed_key: Option<String>,
}

impl PendingMigration<'_> {
    /// The statement that records the number of completed steps. Names, versions and digests contain no
    /// quotes.
    pub(super) fn record_statement(&self, steps_done: usize) -> String {
        let Migration { name, .. } = self.migration;
        let (version, checksum) = (self.migration.version(), self.migration.checksum());
        let floor = &self.script.floor;
        let at = if steps_done == self.script.steps.len() { "CURRENT_TIMESTAMP" } else { "NULL" };
        format!(
            "INSERT INTO schema_migrations (version, name, checksum, floor, steps_done, applied_at) \
             VALUES ('{version}', '{name}', '{checksum}', '{floor}', {steps_done}, {at}) \
             ON CONFLICT (version) DO UPDATE SET steps_done = excluded.steps_done, reached = NULL, applied_at = excluded.applied_at"
        )
    }
}

/// The migrations that a database lacks. Fails if this program cannot work with the database at all.
///
/// Migrations that this program does not know come from a newer one. Each has a floor: this program works
/// with it if its own newest migration is not below the floor.
pub(super) fn find_pending<'a>(
    applied: &[AppliedMigration],
    known: &'a [Migration],
) -> Result<Vec<PendingMigration<'a>>, OpenError> {
    let newest = known.last().map_or("", Migration::version);
    let is_known = |row: &&AppliedMigration| known.iter().any(|migration| migration.version() == row.version);
    for row in applied.iter().filter(|row| !is_known(row)) {
        if row.version.as_str() < newest || row.floor.as_str() > newest {
            return Err(OpenError::Newer(row.name.clone()));
        }
    }
    let mut pending = Vec::new();
    for migration in known {
        let row = applied.iter().find(|row| row.version == migration.version());
        if row.is_some_and(|row| row.checksum != migration.checksum() || row.name != migration.name) {
            return Err(OpenError::Changed(migration.name.to_owned()));
        }
        if row.is_none_or(|row| !row.finished) {
            let steps_done = row.map_or(0, |row| row.steps_done).try_into().unwrap_or(0);
            pending.push(PendingMigration {
                migration,
                script: Script::parse(migration)?,
                was_started: row.is_some(),
                steps_done,
                last_completed_key: row.and_then(|row| row.reached.clone()),
            });
        }
    }
    // Missing migrations must not run after those of a newer program.
    match applied.iter().find(|row| !is_known(row)) {
        Some(newer) if !pending.is_empty() => Err(OpenError::Newer(newer.name.clone())),
        _ => Ok(pending),
    }
}

/// Fails if the database lacks a migration.
pub(super) fn require_all(applied: &[AppliedMigration], known: &[Migration]) -> Result<(), OpenError> {
    if find_pending(applied, known)?.is_empty() { Ok(()) } else { Err(OpenError::Older) }
}
