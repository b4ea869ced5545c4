//! What `psql` is to PostgreSQL.

use std::path::Path;

use anyhow::Result;
use rusqlite::Connection;

/// Runs statements on a file that is there, or prints the number that one query finds.
pub(super) fn run(file: &Path, sql: &str) -> Result<()> {
    let file = file.canonicalize()?;
    let conn = Connection::open(file)?;
    if sql.starts_with("SELECT") {
        let found: i64 = conn.query_row(sql, [], |row| row.get(0))?;
        println!("{found}");
        return Ok(());
    }
    Ok(conn.execute_batch(&format!("BEGIN; {sql}; COMMIT"))?)
}
