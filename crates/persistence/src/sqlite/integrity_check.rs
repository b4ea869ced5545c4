//! Checks the file of the embedded database: whether it is intact, and whether its indexes match its tables.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use diesel::connection::SimpleConnection as _;
use diesel::deserialize::{self, FromSql, FromSqlRow};
use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::{Binary, Bool, Text};
use diesel::sqlite::{Sqlite, SqliteAggregateFunction, SqliteValue};

/// An index of the recognitions.
#[derive(Queryable)]
pub(crate) struct IndexRow {
    name: String,
    /// The SQL of the entry: the columns of the index, followed by those of the primary key.
    entry: String,
}

#[diesel::declare_sql_function]
extern "SQL" {
    /// A digest of entries that does not depend on their order.
    #[aggregate]
    fn digest(entry: Binary) -> BigInt;
}

/// The hash of an entry.
#[derive(Debug, FromSqlRow)]
struct EntryHash(u64);

impl FromSql<Binary, Sqlite> for EntryHash {
    fn from_sql(mut value: SqliteValue<'_, '_, '_>) -> deserialize::Result<Self> {
        let mut hasher = DefaultHasher::new();
        value.read_blob().hash(&mut hasher);
        Ok(Self(hasher.finish()))
    }
}

#[derive(Default)]
struct OrderFreeDigest(u64);

impl SqliteAggregateFunction<EntryHash> for OrderFreeDigest {
    type Output = i64;

    fn step(&mut self, EntryHash(hash): EntryHash) {
        self.0 = self.0.wrapping_add(hash);
    }

    fn finalize(sum: Option<Self>) -> i64 {
        sum.map_or(0, |sum| sum.0.cast_signed())
    }
}

/// A part of the file that is checked separately.
pub(crate) enum StorageCheck {
    Table(String),
    Index(IndexRow),
}

/// The checks of the whole file. The audit of the balances reads the indexes of the transfers. The indexes of the
/// recognitions are compared with their table as a whole.
pub(crate) fn storage_checks(conn: &mut SqliteConnection) -> QueryResult<Vec<StorageCheck>> {
    let tables = table_names(conn)?.into_iter().map(StorageCheck::Table);
    let indexes = recognition_indexes(conn)?.into_iter().map(StorageCheck::Index);
    Ok(tables.chain(indexes).collect())
}

/// Returns one line for each fault.
pub(crate) fn run_storage_check(
    conn: &mut SqliteConnection,
    check: &StorageCheck,
) -> QueryResult<Vec<String>> {
    match check {
        StorageCheck::Table(name) => check_table(name, conn),
        StorageCheck::Index(index) => check_index(index, conn),
    }
}

fn check_table(name: &str, conn: &mut SqliteConnection) -> QueryResult<Vec<String>> {
    match name {
        "recognitions" => run_check("quick_check", name, conn),
        "transfers" => {
            // The audit of the journal checks each transfer against its journal entry, which is stricter than the
            // constraints of the table.
            conn.batch_execute("PRAGMA ignore_check_constraints = ON")?;
            let transfers = run_check("quick_check", name, conn);
            conn.batch_execute("PRAGMA ignore_check_constraints = OFF")?;
            transfers
        }
        _ => run_check("integrity_check", name, conn),
    }
}

fn check_index(index: &IndexRow, conn: &mut SqliteConnection) -> QueryResult<Vec<String>> {
    digest_utils::register_impl::<OrderFreeDigest, _>(conn)?;
    let IndexRow { name, entry } = index;
    let digest_of =
        |how: &str| format!("(SELECT digest(CAST(concat_ws('/', {entry}) AS BLOB)) FROM recognitions {how})");
    let (table, own) = (digest_of("NOT INDEXED"), digest_of(&format!("INDEXED BY {name}")));
    let is_same = sql::<Bool>(&format!("{table} = {own}"));
    let is_same: bool = diesel::select(is_same).get_result(conn)?;
    Ok(if is_same { Vec::new() } else { vec![format!("index {name} differs from its table recognitions")] })
}

fn table_names(conn: &mut SqliteConnection) -> QueryResult<Vec<String>> {
    sql::<Text>("SELECT name FROM sqlite_schema WHERE type = 'table'").get_results(conn)
}

/// Runs one of SQLite's checks for a table. Tables whose indexes have a different order from their rows get
/// the quick check: the full check looks up each row in each index, which would read a page per row.
fn run_check(check: &str, table: &str, conn: &mut SqliteConnection) -> QueryResult<Vec<String>> {
    sql::<Text>(&format!("SELECT {check} FROM pragma_{check}("))
        .bind::<Text, _>(table)
        .sql(&format!(") WHERE {check} <> 'ok'"))
        .get_results(conn)
}

/// The secondary indexes of the recognitions.
fn recognition_indexes(conn: &mut SqliteConnection) -> QueryResult<Vec<IndexRow>> {
    sql::<(Text, Text)>(
        "SELECT i.name, (SELECT group_concat(x.name) FROM pragma_index_xinfo(i.name) AS x) \
         FROM sqlite_schema AS i WHERE i.type = 'index' AND i.tbl_name = 'recognitions' \
         AND i.name NOT IN (SELECT l.name FROM pragma_index_list(i.tbl_name) AS l WHERE l.origin = 'pk')",
    )
    .get_results(conn)
}
