//! Inserts of many rows by one statement, whose text is the same for any number of rows, so that it stays prepared.

use std::marker::PhantomData;

use diesel::pg::Pg;
use diesel::pg::sql_types::Array;
use diesel::prelude::*;
use diesel::query_builder::{AstPass, QueryFragment, QueryId};
use diesel::sql_types::{BigInt, Binary, Integer, Nullable, SmallInt, Text};
use guerdon_domain::values::{CompanyId, EventId};

use super::columns::{ArrayOf, Kept, columns};
use crate::rows::types::{At, Id, Identifier, Moment};
use crate::rows::{AttemptRow, Row};

/// Inserts rows.
pub(super) struct Insert<'r, R: Row + 'r>(R::Arrays<'r>);

impl<'r, R: Row> Insert<'r, R> {
    pub(super) fn of(rows: &'r [R]) -> Self {
        Self(R::arrays(rows))
    }
}

/// Identifies the statement that inserts into a table.
pub(super) struct InsertInto<T>(PhantomData<T>);

impl<R: Row> QueryId for Insert<'_, R> {
    type QueryId = InsertInto<R::Table>;
    const HAS_STATIC_QUERY_ID: bool = true;
}

impl<R: Row> RunQueryDsl<PgConnection> for Insert<'_, R> {}

impl<R: Row> QueryFragment<Pg> for Insert<'_, R> {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        for part in ["INSERT INTO ", R::TABLE, " (", R::COLUMN_NAMES, ") SELECT * FROM "] {
            out.push_sql(part);
        }
        R::push_arrays(&self.0, out)
    }
}

columns! {
    Attempts of AttemptRow<'_>, in "attempts" {
        event_id: Identifier = Id<EventId>,
        id: Identifier = Id,
        company_id: Identifier = Id<CompanyId>,
        number: Integer = i32,
        started_at: Moment = At,
        duration_micros: BigInt = i64,
        status: Nullable<SmallInt> = Option<i16>,
        cause: Nullable<Text> = Option<String>,
        answer: Binary = Vec<u8>,
    }
}
