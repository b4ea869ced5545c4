//! Reads from the database which recognitions the ledger contains.

use std::collections::HashMap;

use anyhow::{Context, Result};

use super::sql::SqlClient;

/// The ids of recognitions by idempotency key.
pub(super) type RecognitionsByKey = HashMap<String, Vec<String>>;

/// The recognitions in a database.
pub(super) struct Ledger {
    sql: SqlClient,
    /// Journal entries before this position are ignored.
    first_position: i64,
}

impl Ledger {
    pub(super) fn new(sql: SqlClient) -> Self {
        Self { sql, first_position: 0 }
    }

    /// Returns the recognitions with a key since the last call of [`Self::skip_existing`].
    pub(super) fn read_recognitions(&self) -> Result<RecognitionsByKey> {
        self.read_since(self.first_position)
    }

    /// Returns all recognitions with a key.
    pub(super) fn read_all_recognitions(&self) -> Result<RecognitionsByKey> {
        self.read_since(0)
    }

    /// Ignores the present journal entries from now on. No request may be in progress.
    pub(super) fn skip_existing(&mut self) -> Result<()> {
        let last = self.sql.run_sql("SELECT coalesce(max(position), 0) FROM journal_entries")?;
        self.first_position = last.trim().parse::<i64>().context("a position")? + 1;
        Ok(())
    }

    fn read_since(&self, position: i64) -> Result<RecognitionsByKey> {
        let rows = self.sql.run_sql(&format!(
            "SELECT j.idempotency_key, r.id FROM journal_entries AS j \
             JOIN recognitions AS r ON r.journal_entry_id = j.id \
             WHERE j.position >= {position} AND j.idempotency_key IS NOT NULL"
        ))?;
        let mut recognitions = RecognitionsByKey::new();
        for (key, id) in rows.lines().filter_map(|row| row.split_once('|')) {
            recognitions.entry(key.to_owned()).or_default().push(plain_id(id));
        }
        Ok(recognitions)
    }
}

/// Removes the hyphens from an id, because ids that are read from SQLite have none: they are stored as bytes.
pub(super) fn plain_id(id: &str) -> String {
    id.replace('-', "")
}
