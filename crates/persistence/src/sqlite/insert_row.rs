//! Inserts a row with a statement whose SQL never changes. diesel's INSERT would build its SQL for each row to find the
//! prepared statement.

use diesel::prelude::*;
use diesel::query_builder::{AstPass, QueryFragment, QueryId};

use super::{Conn, Db};
use crate::rows::{InsertInto, TableRow};

/// Inserts a row.
pub(super) struct InsertRow<'r, R>(pub(super) &'r R);

impl<R: TableRow> QueryId for InsertRow<'_, R> {
    type QueryId = InsertInto<R::Table>;
    const HAS_STATIC_QUERY_ID: bool = true;
}

impl<R: TableRow> RunQueryDsl<Conn> for InsertRow<'_, R> {}

impl<R: TableRow> QueryFragment<Db> for InsertRow<'_, R> {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Db>) -> QueryResult<()> {
        for part in ["INSERT INTO ", R::TABLE, " (", R::COLUMN_NAMES, ") VALUES ("] {
            out.push_sql(part);
        }
        self.0.push_values(out.reborrow())?;
        out.push_sql(")");
        Ok(())
    }
}
