//! Describes the schema, to compare it with the migrations. SQLite stores the original SQL of definitions.

use diesel::connection::SimpleConnection;
use diesel::prelude::*;

use crate::catalog::{Object, differences};
use crate::migrations::structure_of_sqlite;

/// Tables are compared by their SQL. Objects that SQLite creates internally have none.
const OBJECTS: &str = "SELECT type || ' ' || name AS name, sql AS definition, type = 'trigger' AS matters \
    FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'schema_migrations%' AND name NOT LIKE 'sqlite_%'";

/// The differences from the schema that the migrations create.
pub(crate) fn check(conn: &mut SqliteConnection) -> Result<Vec<String>, String> {
    let mut empty = SqliteConnection::establish(":memory:").map_err(|e| e.to_string())?;
    for text in structure_of_sqlite()? {
        empty.batch_execute(&text).map_err(|e| e.to_string())?;
    }
    let objects = |conn: &mut SqliteConnection| {
        diesel::sql_query(OBJECTS).get_results::<Object>(conn).map_err(|e| e.to_string())
    };
    Ok(differences(objects(&mut empty)?, objects(conn)?))
}
