//! The columns of the tables as data, for rows that are copied whole.

use diesel::sql_types::{BigInt, Binary, Bool, Integer, Nullable, SmallInt, Text};

use super::{Identifier, SqlTimestamp};

/// The SQL type of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SqlKind {
    Bool,
    SmallInt,
    Integer,
    BigInt,
    Text,
    Binary,
    Identifier,
    Timestamp,
}

/// A column of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StoredColumn {
    pub(crate) name: &'static str,
    pub(crate) kind: SqlKind,
    pub(crate) is_nullable: bool,
}

/// A SQL type of `schema`.
pub(crate) trait StoredType {
    const KIND: SqlKind;
    const IS_NULLABLE: bool = false;
}

macro_rules! stored_types {
    ($($sql:ty: $kind:ident),+ $(,)?) => {
        $(impl StoredType for $sql {
            const KIND: SqlKind = SqlKind::$kind;
        })+
    };
}

stored_types!(
    Bool: Bool,
    SmallInt: SmallInt,
    Integer: Integer,
    BigInt: BigInt,
    Text: Text,
    Binary: Binary,
    Identifier: Identifier,
    SqlTimestamp: Timestamp,
);

impl<T: StoredType + diesel::sql_types::SqlType> StoredType for Nullable<T> {
    const KIND: SqlKind = T::KIND;
    const IS_NULLABLE: bool = true;
}
