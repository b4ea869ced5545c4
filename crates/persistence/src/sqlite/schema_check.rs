//! Describes the schema, to compare it with the migrations. SQLite stores the original SQL of definitions.

use diesel::connection::SimpleConnection;
use diesel::prelude::*;

use crate::migrations::sqlite_schema;
use crate::schema_objects::{SchemaObject, find_differences};

/// Tables are compared by their SQL. Objects that SQLite creates internally have none.
const OBJECTS: &str = "SELECT type || ' ' || name AS name, sql AS definition, type = 'trigger' AS matters \
    FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'schema_migrations%' AND name NOT LIKE 'sqlite_%'";

/// The differences from the schema that the migrations create.
pub(crate) fn find_schema_differences(conn: &mut SqliteConnection) -> Result<Vec<String>, String> {
    let mut empty = SqliteConnection::establish(":memory:").map_err(|e| e.to_string())?;
    for text in sqlite_schema()? {
        empty.batch_execute(&text).map_err(|e| e.to_string())?;
    }
    let objects = |conn: &mut SqliteConnection| {
        diesel::sql_query(OBJECTS).get_results::<SchemaObject>(conn).map_err(|e| e.to_string())
    };
    Ok(find_differences(objects(&mut empty)?, objects(conn)?))
}
