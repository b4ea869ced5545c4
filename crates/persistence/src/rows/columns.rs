//! Rows whose columns are declared only once. The structs, the lists of columns, and the values or arrays that
//! an INSERT binds must agree, so the macro `declare_row!` generates all of them from one declaration.

use std::borrow::Cow;
use std::marker::PhantomData;

use diesel::QueryResult;
use diesel::pg::Pg;
use diesel::query_builder::AstPass;
use diesel::sql_types::{BigInt, Binary, Bool, Integer, Nullable, SmallInt, Text};
use diesel::sqlite::Sqlite;

use super::{DbTimestamp, Id, Identifier, SqlTimestamp};

/// A row that `declare_row!` declares. All lists of its columns are in the order of the declaration.
pub(crate) trait DeclaredRow: Sized {
    /// An array for each column.
    type Arrays<'r>
    where
        Self: 'r;

    /// Names of the columns, separated by commas.
    const COLUMN_NAMES: &'static str;

    fn column_arrays(rows: &[Self]) -> Self::Arrays<'_>;

    /// Appends the arrays, with a separator, as arguments of one call of `unnest` or of several. The SQL is the same
    /// for any number of rows, so the statement stays prepared.
    fn push_arrays<'b>(
        arrays: &'b Self::Arrays<'_>,
        separator: &str,
        out: AstPass<'_, 'b, Pg>,
    ) -> QueryResult<()>;

    /// Appends the values of the row, separated by commas.
    fn push_values<'b>(&'b self, out: AstPass<'_, 'b, Sqlite>) -> QueryResult<()>;
}

/// A row of a table.
pub(crate) trait TableRow: DeclaredRow {
    type Table: 'static;

    const TABLE: &'static str;
}

/// Identifies the statement that inserts rows into a table.
pub(crate) struct InsertInto<T>(PhantomData<T>);

/// A Rust type of columns, with its SQL type and the PostgreSQL name of its array type.
pub(crate) trait ColumnType {
    type Sql;

    const ARRAY: &'static str;
}

macro_rules! columns {
    ($($rust:ty: $sql:ty = $array:literal),+ $(,)?) => {
        $(impl ColumnType for $rust {
            type Sql = $sql;

            const ARRAY: &'static str = $array;
        })+
    };
}

columns!(
    bool: Bool = "boolean[]",
    i16: SmallInt = "smallint[]",
    i32: Integer = "integer[]",
    i64: BigInt = "bigint[]",
    &str: Text = "text[]",
    Cow<'_, str>: Text = "text[]",
    String: Text = "text[]",
    &[u8]: Binary = "bytea[]",
    Vec<u8>: Binary = "bytea[]",
    DbTimestamp: SqlTimestamp = "timestamptz[]",
);

impl<T> ColumnType for Id<T> {
    type Sql = Identifier;

    const ARRAY: &'static str = "uuid[]";
}

impl<T: ColumnType> ColumnType for Option<T> {
    type Sql = Nullable<T::Sql>;

    const ARRAY: &'static str = T::ARRAY;
}

/// Declares the struct of a row and implements `DeclaredRow` for it: `#[derive(…)] struct Name in table { column:
/// type, … }`. Without `in table`, the row belongs to no table.
macro_rules! declare_row {
    ($(#[$meta:meta])* struct $row:ident $(<$life:lifetime>)? in $table:ident $columns:tt) => {
        $crate::rows::columns::declare_row! {
            $(#[$meta])*
            #[diesel(table_name = $table, treat_none_as_default_value = false)]
            struct $row $(<$life>)? $columns
        }

        impl $(<$life>)? $crate::rows::TableRow for $row $(<$life>)? {
            type Table = $table::table;

            const TABLE: &'static str = stringify!($table);
        }
    };
    ($(#[$meta:meta])* struct $row:ident $(<$life:lifetime>)? { $($column:ident: $type:ty),+ $(,)? }) => {
        $(#[$meta])*
        pub(crate) struct $row $(<$life>)? {
            $(pub(crate) $column: $type,)+
        }

        impl $(<$life>)? $row $(<$life>)? {
            /// Number of columns, which is the number of values that an inserted row binds.
            pub(crate) const COLUMNS: usize = [$(stringify!($column)),+].len();
        }

        impl $(<$life>)? $crate::rows::DeclaredRow for $row $(<$life>)? {
            type Arrays<'r> = ($(Vec<&'r $type>,)+) where Self: 'r;

            const COLUMN_NAMES: &'static str = concat!($(", ", stringify!($column)),+).split_at(2).1;

            fn column_arrays(rows: &[Self]) -> Self::Arrays<'_> {
                ($(rows.iter().map(|row| &row.$column).collect(),)+)
            }

            fn push_arrays<'b>(
                ($($column,)+): &'b Self::Arrays<'_>,
                separator: &str,
                mut out: diesel::query_builder::AstPass<'_, 'b, diesel::pg::Pg>,
            ) -> diesel::QueryResult<()> {
                use diesel::pg::sql_types::Array;
                use $crate::rows::columns::ColumnType;
                let mut left = Self::COLUMNS;
                $(
                    out.push_bind_param::<Array<<$type as ColumnType>::Sql>, _>($column)?;
                    out.push_sql("::");
                    out.push_sql(<$type as ColumnType>::ARRAY);
                    left -= 1;
                    out.push_sql(if left > 0 { separator } else { "" });
                )+
                Ok(())
            }

            fn push_values<'b>(
                &'b self,
                mut out: diesel::query_builder::AstPass<'_, 'b, diesel::sqlite::Sqlite>,
            ) -> diesel::QueryResult<()> {
                use $crate::rows::columns::ColumnType;
                let mut left = Self::COLUMNS;
                $(
                    out.push_bind_param::<<$type as ColumnType>::Sql, _>(&self.$column)?;
                    left -= 1;
                    out.push_sql(if left > 0 { ", " } else { "" });
                )+
                Ok(())
            }
        }
    };
}

pub(super) use declare_row;
