//! Describes the schema, to compare it with the migrations.
//!
//! PostgreSQL stores definitions in a normalised form. The migrations are therefore run in the temporary
//! schema of a transaction that is rolled back, and the same query describes both schemas. The tables may be
//! in any schema: schema names are removed from both descriptions before they are compared.

use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::result::Error;
use diesel::sql_types::Text;

use crate::migrations::postgres_schema;
use crate::schema_objects::{SchemaObject, find_differences};

/// The schema of the tables, as written in SQL.
const SCHEMA: &str =
    "(SELECT relnamespace::regnamespace::text FROM pg_class WHERE oid = to_regclass('transfers'))";
/// All objects of the schema with the oid `NAMESPACE`. The tables are in the schema `$1`. For a partition, the
/// query returns only constraints and triggers that the partitioned table does not have.
const OBJECTS: &str = r"
    SELECT name, replace(regexp_replace(definition, '\mpg_temp(_\d+)?\.', '', 'g'), $1 || '.', '') AS definition, matters FROM (
      SELECT 'column ' || c.relname || '.' || a.attname AS name, format_type(a.atttypid, a.atttypmod)
        || CASE WHEN a.attnotnull THEN ' NOT NULL' ELSE '' END || COALESCE(' ' || pg_get_expr(d.adbin, d.adrelid), '')
        AS definition, FALSE AS matters
        FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
        LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
        WHERE c.relnamespace = NAMESPACE AND c.relkind IN ('r', 'p') AND NOT c.relispartition
          AND a.attnum > 0 AND NOT a.attisdropped
      UNION ALL
      SELECT 'constraint ' || c.relname || '.' || n.conname, pg_get_constraintdef(n.oid)
        || CASE WHEN n.convalidated THEN '' ELSE ' NOT VALID' END, TRUE
        FROM pg_constraint n JOIN pg_class c ON c.oid = n.conrelid
        WHERE c.relnamespace = NAMESPACE AND n.contype IN ('c', 'u', 'p', 'f') AND n.conislocal AND n.conparentid = 0
      UNION ALL
      SELECT 'index ' || i.relname, pg_get_indexdef(x.indexrelid)
        || CASE WHEN x.indisvalid THEN '' ELSE ' INVALID' END, FALSE
        FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid
        WHERE i.relnamespace = NAMESPACE AND NOT i.relispartition
      UNION ALL
      SELECT 'trigger ' || c.relname || '.' || t.tgname,
        pg_get_triggerdef(t.oid) || ' ' || t.tgenabled::text, TRUE
        FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
        WHERE c.relnamespace = NAMESPACE AND NOT t.tgisinternal AND t.tgparentid = 0
      UNION ALL
      SELECT 'function ' || p.proname,
        regexp_replace(COALESCE(pg_get_function_sqlbody(p.oid), p.prosrc), '\+ ''?\d+''?(::bigint)?', '+ N', 'g')
        || COALESCE(' SET ' || replace(replace(array_to_string(p.proconfig, ' '),
          'search_path=' || $1 || ', pg_temp', 'SCHEMA'), 'search_path=pg_temp, ' || $1, 'SCHEMA'), ''), FALSE
        FROM pg_proc p WHERE p.pronamespace = NAMESPACE
    ) AS objects WHERE name NOT LIKE '%schema_migrations%'";

/// The differences from the schema that the migrations create.
pub(crate) fn find_schema_differences(conn: &mut PgConnection) -> Result<Vec<String>, String> {
    let statements = postgres_schema()?;
    let schema: String =
        diesel::select(diesel::dsl::sql::<Text>(SCHEMA)).get_result(conn).map_err(|e| e.to_string())?;
    let objects = |conn: &mut PgConnection, namespace: &str| {
        diesel::sql_query(OBJECTS.replace("NAMESPACE", namespace))
            .bind::<Text, _>(&schema)
            .get_results::<SchemaObject>(conn)
    };
    let found = objects(conn, "(SELECT relnamespace FROM pg_class WHERE oid = to_regclass('transfers'))")
        .map_err(|e| e.to_string())?;
    let mut wanted = Ok(Vec::new());
    let ended = conn.transaction(|conn| -> QueryResult<()> {
        // Functions are never looked up in the temporary schema. Those of the tables' own schema are used
        // instead.
        conn.batch_execute(&format!("SET LOCAL search_path = pg_temp, {schema}"))?;
        for statement in &statements {
            conn.batch_execute(statement)?;
        }
        wanted = objects(conn, "pg_my_temp_schema()");
        Err(Error::RollbackTransaction)
    });
    match ended {
        Ok(()) | Err(Error::RollbackTransaction) => {
            Ok(find_differences(wanted.map_err(|e| e.to_string())?, found))
        }
        Err(cause) => Err(cause.to_string()),
    }
}
