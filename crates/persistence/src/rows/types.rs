//! The SQL types that both databases share, and the Rust types for them.

use std::fmt::Debug;
use std::io::Write as _;

use diesel::deserialize::{self, FromSql, FromSqlRow};
use diesel::expression::AsExpression;
use diesel::pg::{Pg, PgValue};
use diesel::serialize::{self, IsNull, Output, ToSql};
use diesel::sql_types::{BigInt, SqlType};
use diesel::sqlite::{Sqlite, SqliteValue};
use guerdon_domain::ports::Timestamp;
use uuid::Uuid;

/// A UUID: `uuid` in PostgreSQL, 16 bytes in SQLite.
#[derive(SqlType, diesel::query_builder::QueryId)]
#[diesel(postgres_type(oid = 2950, array_oid = 2951), sqlite_type(name = "Binary"))]
pub struct Identifier;

/// A time: `timestamptz` in PostgreSQL, microseconds since 1970 in SQLite.
#[derive(SqlType, diesel::query_builder::QueryId)]
#[diesel(postgres_type(oid = 1184, array_oid = 1185), sqlite_type(name = "Long"))]
pub struct SqlTimestamp;

/// An id in a statement: a domain id, or a UUID in columns that are shared by owners of several kinds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, AsExpression, FromSqlRow)]
#[diesel(sql_type = Identifier)]
pub struct Id<T = Uuid>(pub T);

/// A time in a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, AsExpression, FromSqlRow)]
#[diesel(sql_type = SqlTimestamp)]
pub struct DbTimestamp(pub Timestamp);

/// The smallest id of a millisecond since 1970. Ids are UUIDs of version 7 (RFC 9562), which start with the time.
pub(crate) fn first_id_of_millisecond(millisecond: i64) -> Uuid {
    Uuid::from_u128(u128::try_from(millisecond).unwrap_or_default() << 80)
}

/// Microseconds from 1970 to 2000, the epoch of PostgreSQL.
const PG_EPOCH_UNIX_MICROS: i64 = 946_684_800_000_000;

const OUT_OF_RANGE: &str = "the time is out of range";
impl<T: AsRef<[u8]> + Debug> ToSql<Identifier, Pg> for Id<T> {
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Pg>) -> serialize::Result {
        out.write_all(self.0.as_ref())?;
        Ok(IsNull::No)
    }
}

impl<T: From<Uuid>> FromSql<Identifier, Pg> for Id<T> {
    fn from_sql(value: PgValue<'_>) -> deserialize::Result<Self> {
        Ok(Self(Uuid::from_slice(value.as_bytes())?.into()))
    }
}

impl<T: AsRef<[u8]> + Debug> ToSql<Identifier, Sqlite> for Id<T> {
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Sqlite>) -> serialize::Result {
        out.set_value(self.0.as_ref());
        Ok(IsNull::No)
    }
}

impl<T: From<Uuid>> FromSql<Identifier, Sqlite> for Id<T> {
    fn from_sql(mut value: SqliteValue<'_, '_, '_>) -> deserialize::Result<Self> {
        Ok(Self(Uuid::from_slice(value.read_blob())?.into()))
    }
}

impl ToSql<SqlTimestamp, Pg> for DbTimestamp {
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Pg>) -> serialize::Result {
        out.write_all(&(self.0.unix_micros() - PG_EPOCH_UNIX_MICROS).to_be_bytes())?;
        Ok(IsNull::No)
    }
}

impl FromSql<SqlTimestamp, Pg> for DbTimestamp {
    fn from_sql(value: PgValue<'_>) -> deserialize::Result<Self> {
        let since_2000 = i64::from_be_bytes(value.as_bytes().try_into()?);
        let at = since_2000.checked_add(PG_EPOCH_UNIX_MICROS).and_then(Timestamp::from_unix_micros);
        Ok(Self(at.ok_or(OUT_OF_RANGE)?))
    }
}

impl ToSql<SqlTimestamp, Sqlite> for DbTimestamp {
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Sqlite>) -> serialize::Result {
        out.set_value(self.0.unix_micros());
        Ok(IsNull::No)
    }
}

impl FromSql<SqlTimestamp, Sqlite> for DbTimestamp {
    fn from_sql(value: SqliteValue<'_, '_, '_>) -> deserialize::Result<Self> {
        let micros = <i64 as FromSql<BigInt, Sqlite>>::from_sql(value)?;
        Ok(Self(Timestamp::from_unix_micros(micros).ok_or(OUT_OF_RANGE)?))
    }
}
