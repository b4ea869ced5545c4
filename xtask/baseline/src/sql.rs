//! Runs SQL on an SQLite file, as `psql` does on PostgreSQL.

use std::io::Write as _;
use std::path::Path;

use anyhow::Result;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};

/// Runs statements on an existing file, or prints the rows of a single query, with `|` between columns.
pub(super) fn run_sql(file: &Path, sql: &str) -> Result<()> {
    let file = file.canonicalize()?;
    if sql.starts_with("SELECT") {
        return print_rows(&Connection::open_with_flags(file, OpenFlags::SQLITE_OPEN_READ_ONLY)?, sql);
    }
    Ok(Connection::open(file)?.execute_batch(&format!("BEGIN; {sql}; COMMIT"))?)
}

fn print_rows(conn: &Connection, sql: &str) -> Result<()> {
    let mut output = std::io::stdout().lock();
    let mut statement = conn.prepare(sql)?;
    let columns = statement.column_count();
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let cells: Vec<String> =
            (0..columns).map(|column| Ok(format_value(row.get_ref(column)?))).collect::<Result<_>>()?;
        writeln!(output, "{}", cells.join("|"))?;
    }
    Ok(())
}

fn format_value(value: ValueRef<'_>) -> String {
    match value {
        ValueRef::Null => String::new(),
        ValueRef::Integer(number) => number.to_string(),
        ValueRef::Real(number) => number.to_string(),
        ValueRef::Text(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        ValueRef::Blob(bytes) => bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
    }
}
