//! Inserts any number of rows with one statement, whose SQL does not depend on their number, so that it stays
//! prepared.

use std::marker::PhantomData;

use diesel::pg::Pg;
use diesel::prelude::*;
use diesel::query_builder::{AstPass, QueryFragment, QueryId};

use crate::rows::{Row, TableRow};

/// Inserts rows.
pub(super) struct Insert<'r, R: Row + 'r>(R::Arrays<'r>);

impl<'r, R: Row> Insert<'r, R> {
    pub(super) fn of(rows: &'r [R]) -> Self {
        Self(R::arrays(rows))
    }
}

/// Identifies the statement that inserts into a table.
pub(super) struct InsertInto<T>(PhantomData<T>);

impl<R: TableRow> QueryId for Insert<'_, R> {
    type QueryId = InsertInto<R::Table>;
    const HAS_STATIC_QUERY_ID: bool = true;
}

impl<R: TableRow> RunQueryDsl<PgConnection> for Insert<'_, R> {}

impl<R: TableRow> QueryFragment<Pg> for Insert<'_, R> {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        for part in ["INSERT INTO ", R::TABLE, " (", R::COLUMN_NAMES, ") SELECT * FROM "] {
            out.push_sql(part);
        }
        R::push_arrays(&self.0, out)
    }
}
