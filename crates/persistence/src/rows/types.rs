//! The SQL types that both databases share, and the Rust types that carry them.

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

/// A moment: `timestamptz` in PostgreSQL, microseconds since 1970 in SQLite.
#[derive(SqlType, diesel::query_builder::QueryId)]
#[diesel(postgres_type(oid = 1184, array_oid = 1185), sqlite_type(name = "Long"))]
pub struct Moment;

/// A UUID on its way in or out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, AsExpression, FromSqlRow)]
#[diesel(sql_type = Identifier)]
pub struct Id(pub Uuid);

/// A moment on its way in or out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, AsExpression, FromSqlRow)]
#[diesel(sql_type = Moment)]
pub struct At(pub Timestamp);

impl At {
    /// Microseconds since 1970; the largest number where that is too far away for any.
    pub(crate) fn micros(self) -> i64 {
        micros(self.0).unwrap_or(i64::MAX)
    }

    /// None where it is too far away for a date.
    pub(crate) fn from_micros(micros: i64) -> Option<Self> {
        from_micros(micros).ok()
    }
}

/// Microseconds from 1970 to 2000, where PostgreSQL begins to count.
const PG_EPOCH: i64 = 946_684_800_000_000;

const FAR: &str = "a moment out of range";
const MICROS: i64 = 1_000_000;

/// None where it is too far away for the columns.
fn micros(at: Timestamp) -> Option<i64> {
    at.unix_timestamp().checked_mul(MICROS)?.checked_add(at.microsecond().into())
}

fn from_micros(micros: i64) -> deserialize::Result<At> {
    let second = Timestamp::from_unix_timestamp(micros.div_euclid(MICROS))?;
    let within = u32::try_from(micros.rem_euclid(MICROS))?;
    Ok(At(second.replace_microsecond(within)?))
}

impl ToSql<Identifier, Pg> for Id {
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Pg>) -> serialize::Result {
        out.write_all(self.0.as_bytes())?;
        Ok(IsNull::No)
    }
}

impl FromSql<Identifier, Pg> for Id {
    fn from_sql(value: PgValue<'_>) -> deserialize::Result<Self> {
        Ok(Self(Uuid::from_slice(value.as_bytes())?))
    }
}

impl ToSql<Identifier, Sqlite> for Id {
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Sqlite>) -> serialize::Result {
        let bytes: &[u8] = self.0.as_bytes();
        out.set_value(bytes);
        Ok(IsNull::No)
    }
}

impl FromSql<Identifier, Sqlite> for Id {
    fn from_sql(mut value: SqliteValue<'_, '_, '_>) -> deserialize::Result<Self> {
        Ok(Self(Uuid::from_slice(value.read_blob())?))
    }
}

impl ToSql<Moment, Pg> for At {
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Pg>) -> serialize::Result {
        let since_2000 = micros(self.0).and_then(|it| it.checked_sub(PG_EPOCH)).ok_or(FAR)?;
        out.write_all(&since_2000.to_be_bytes())?;
        Ok(IsNull::No)
    }
}

impl FromSql<Moment, Pg> for At {
    fn from_sql(value: PgValue<'_>) -> deserialize::Result<Self> {
        let since_2000 = i64::from_be_bytes(value.as_bytes().try_into()?);
        from_micros(since_2000.checked_add(PG_EPOCH).ok_or(FAR)?)
    }
}

impl ToSql<Moment, Sqlite> for At {
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Sqlite>) -> serialize::Result {
        out.set_value(micros(self.0).ok_or(FAR)?);
        Ok(IsNull::No)
    }
}

impl FromSql<Moment, Sqlite> for At {
    fn from_sql(value: SqliteValue<'_, '_, '_>) -> deserialize::Result<Self> {
        from_micros(<i64 as FromSql<BigInt, Sqlite>>::from_sql(value)?)
    }
}
