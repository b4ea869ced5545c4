//! Queries on the service's tables, for both databases.

use diesel::deserialize::{self, FromSql, FromSqlRow};
use diesel::expression::AsExpression;
use diesel::pg::{Pg, PgValue};
use diesel::prelude::*;
use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId};
use diesel::r2d2::R2D2Connection;
use diesel::serialize::{self, IsNull, Output, ToSql};
use diesel::sql_types::{BigInt, SmallInt, SqlType};
use diesel::sqlite::{Sqlite, SqliteValue};
use serde::Serialize;
use uuid::Uuid;

/// The SQL type of ids: `uuid` in PostgreSQL, 16 bytes in SQLite.
#[derive(SqlType, QueryId)]
#[diesel(postgres_type(oid = 2950, array_oid = 2951), sqlite_type(name = "Binary"))]
pub struct Identifier;

/// The SQL type of times: `timestamptz` in PostgreSQL, microseconds in SQLite.
#[derive(SqlType, QueryId)]
#[diesel(postgres_type(oid = 1184, array_oid = 1185), sqlite_type(name = "Long"))]
pub struct Moment;

#[derive(Debug, Clone, Copy, AsExpression, FromSqlRow, Serialize)]
#[diesel(sql_type = Identifier)]
pub struct Id(pub Uuid);

#[derive(Debug, Clone, Copy, FromSqlRow, Serialize)]
pub struct Microseconds(i64);

impl ToSql<Identifier, Pg> for Id {
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Pg>) -> serialize::Result {
        std::io::Write::write_all(out, self.0.as_bytes())?;
        Ok(IsNull::No)
    }
}

impl ToSql<Identifier, Sqlite> for Id {
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Sqlite>) -> serialize::Result {
        out.set_value(self.0.as_bytes().as_slice());
        Ok(IsNull::No)
    }
}

impl FromSql<Identifier, Pg> for Id {
    fn from_sql(value: PgValue<'_>) -> deserialize::Result<Self> {
        Ok(Self(Uuid::from_slice(value.as_bytes())?))
    }
}

impl FromSql<Identifier, Sqlite> for Id {
    fn from_sql(mut value: SqliteValue<'_, '_, '_>) -> deserialize::Result<Self> {
        Ok(Self(Uuid::from_slice(value.read_blob())?))
    }
}

impl FromSql<Moment, Pg> for Microseconds {
    fn from_sql(value: PgValue<'_>) -> deserialize::Result<Self> {
        Ok(Self(i64::from_be_bytes(value.as_bytes().try_into()?)))
    }
}

impl FromSql<Moment, Sqlite> for Microseconds {
    fn from_sql(value: SqliteValue<'_, '_, '_>) -> deserialize::Result<Self> {
        <i64 as FromSql<BigInt, Sqlite>>::from_sql(value).map(Self)
    }
}

diesel::table! {
    use diesel::sql_types::*;
    use super::{Identifier, Moment};
    users (id) {
        id -> Identifier,
        company_id -> Identifier,
        email -> Text,
        first_name -> Text,
        last_name -> Nullable<Text>,
        department -> Nullable<Text>,
        title -> Nullable<Text>,
        employee_id -> Nullable<Text>,
        created_at -> Moment,
        updated_at -> Moment,
    }
}

diesel::table! {
    use diesel::sql_types::*;
    use super::Identifier;
    accounts (owner_id, kind) {
        owner_id -> Identifier,
        kind -> SmallInt,
        balance -> BigInt,
        spent -> BigInt,
    }
}

#[derive(Queryable, Serialize)]
pub struct User {
    id: Id,
    company_id: Id,
    email: String,
    first_name: String,
    last_name: Option<String>,
    department: Option<String>,
    title: Option<String>,
    employee_id: Option<String>,
    created_at: Microseconds,
    updated_at: Microseconds,
}

#[derive(Queryable, Serialize)]
pub struct Balance {
    kind: i16,
    balance: i64,
    spent: i64,
}

#[derive(Queryable, Serialize)]
pub struct Transaction {
    direction: i16,
    points: i64,
    reason: i16,
    created_at: Microseconds,
}

/// The latest hundred transfers of a user's wallet.
#[derive(QueryId)]
struct LatestTransfers {
    owner: Id,
}

impl Query for LatestTransfers {
    type SqlType = (SmallInt, BigInt, SmallInt, Moment);
}

const TRANSFERS_SQL: [(&str, &str); 3] = [
    (
        "SELECT CAST(direction AS smallint), points, reason, created_at FROM (SELECT * FROM (SELECT 0 AS direction, points, \
      reason, created_at, debit_sequence AS place FROM transfers WHERE debit_owner = ",
        " AND debit_kind = 1 ORDER BY debit_sequence DESC LIMIT 100) AS debits UNION ALL ",
    ),
    (
        "SELECT * FROM (SELECT 1 AS direction, points, reason, created_at, credit_sequence AS place FROM transfers WHERE credit_owner = ",
        " AND credit_kind = 1 ORDER BY credit_sequence DESC LIMIT 100) AS credits",
    ),
    (") AS sides ORDER BY place DESC LIMIT 100", ""),
];

/// A connection that runs the queries.
pub trait ReadQueries: R2D2Connection + 'static {
    fn load_user(&mut self, id: Id) -> QueryResult<User>;
    fn load_balances(&mut self, id: Id) -> QueryResult<Vec<Balance>>;
    fn load_transactions(&mut self, id: Id) -> QueryResult<Vec<Transaction>>;
}

/// Implements the queries for one database.
macro_rules! impl_read_queries {
    ($conn:ty, $db:ty) => {
        impl RunQueryDsl<$conn> for LatestTransfers {}

        impl QueryFragment<$db> for LatestTransfers {
            fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, $db>) -> QueryResult<()> {
                let [(debits, then), (credits, end), (merged, _)] = TRANSFERS_SQL;
                out.push_sql(debits);
                out.push_bind_param::<Identifier, _>(&self.owner)?;
                out.push_sql(then);
                out.push_sql(credits);
                out.push_bind_param::<Identifier, _>(&self.owner)?;
                out.push_sql(end);
                out.push_sql(merged);
                Ok(())
            }
        }

        impl ReadQueries for $conn {
            fn load_user(&mut self, id: Id) -> QueryResult<User> {
                users::table.find(id).first(self)
            }

            fn load_balances(&mut self, id: Id) -> QueryResult<Vec<Balance>> {
                accounts::table
                    .filter(accounts::owner_id.eq(id).and(accounts::kind.le(3)))
                    .order(accounts::kind)
                    .select((accounts::kind, accounts::balance, accounts::spent))
                    .load(self)
            }

            fn load_transactions(&mut self, id: Id) -> QueryResult<Vec<Transaction>> {
                LatestTransfers { owner: id }.load(self)
            }
        }
    };
}

impl_read_queries!(PgConnection, Pg);
impl_read_queries!(SqliteConnection, Sqlite);
