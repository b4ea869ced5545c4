//! The tables and columns of the database that the migrations create.

use std::path::Path;

/// A column: its table, its name, its type.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct TableColumn {
    pub table: String,
    pub name: String,
    pub kind: String,
}

/// Every column of every table.
pub fn list_columns() -> Vec<TableColumn> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../migrations/postgres");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut all = Vec::new();
    for file in files {
        let mut table = String::new();
        for line in std::fs::read_to_string(file.join("up.sql")).unwrap().lines() {
            let words: Vec<&str> = line.split([' ', ',', '(']).filter(|word| !word.is_empty()).collect();
            match words.as_slice() {
                ["CREATE", "TABLE", name, ..] => (*name).clone_into(&mut table),
                ["ALTER", "TABLE", table, "ADD", "COLUMN", name, kind, ..] => {
                    all.push(column_from_sql(table, name, kind))
                }
                [name, kind, ..] if line.starts_with("  ") && is_type(kind) => {
                    all.push(column_from_sql(&table, name, kind));
                }
                _ => {}
            }
        }
    }
    assert!(all.len() > 80, "{all:?}");
    all
}

/// Every table, once.
pub fn list_tables() -> Vec<String> {
    let mut tables: Vec<String> = list_columns().into_iter().map(|column| column.table).collect();
    tables.dedup();
    tables
}

fn column_from_sql(table: &str, name: &str, kind: &str) -> TableColumn {
    let kind = kind.trim_end_matches(';');
    TableColumn { table: table.to_owned(), name: name.to_owned(), kind: kind.to_owned() }
}

fn is_type(word: &str) -> bool {
    let types = ["uuid", "text", "boolean", "smallint", "integer", "bigint", "bytea", "timestamptz"];
    types.contains(&word)
}
