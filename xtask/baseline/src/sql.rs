//! Runs SQL on an SQLite file, as `psql` does on PostgreSQL.

use std::path::Path;

use anyhow::Result;
use rusqlite::Connection;

/// Runs statements on an existing file, or prints the number that a single query returns.
pub(super) fn run_sql(file: &Path, sql: &str) -> Result<()> {
    let file = file.canonicalize()?;
    let conn = Connection::open(file)?;
    if sql.starts_with("SELECT") {
        let found: i64 = conn.query_row(sql, [], |row| row.get(0))?;
        println!("{found}");
        return Ok(());
    }
    Ok(conn.execute_batch(&format!("BEGIN; {sql}; COMMIT"))?)
}
