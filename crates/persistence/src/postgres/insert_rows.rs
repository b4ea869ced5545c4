//! Inserts any number of rows with one statement. The SQL does not depend on the number of rows, so the
//! statement stays prepared.

use diesel::pg::Pg;
use diesel::prelude::*;
use diesel::query_builder::{AstPass, QueryFragment, QueryId};

use crate::rows::{DeclaredRow, InsertInto, TableRow};

/// Inserts rows.
pub(super) struct InsertRows<'r, R: DeclaredRow + 'r>(R::Arrays<'r>);

impl<'r, R: DeclaredRow> InsertRows<'r, R> {
    pub(super) fn from_rows(rows: &'r [R]) -> Self {
        Self(R::column_arrays(rows))
    }
}

impl<R: TableRow> QueryId for InsertRows<'_, R> {
    type QueryId = InsertInto<R::Table>;
    const HAS_STATIC_QUERY_ID: bool = true;
}

impl<R: TableRow> RunQueryDsl<PgConnection> for InsertRows<'_, R> {}

impl<R: TableRow> QueryFragment<Pg> for InsertRows<'_, R> {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        for part in ["INSERT INTO ", R::TABLE, " (", R::COLUMN_NAMES, ") SELECT unnest("] {
            out.push_sql(part);
        }
        // Calls of `unnest` in the select list produce their rows in step. In FROM, PostgreSQL would first materialize
        // the result and every array.
        R::push_arrays(&self.0, "), unnest(", out.reborrow())?;
        out.push_sql(")");
        Ok(())
    }
}
