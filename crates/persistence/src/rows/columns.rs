//! Rows whose columns are declared once.

use diesel::QueryResult;
use diesel::pg::Pg;
use diesel::query_builder::AstPass;
use diesel::sql_types::{BigInt, Binary, Bool, Integer, Nullable, SmallInt, Text};
use diesel::sqlite::Sqlite;

use super::types::{Identifier, Moment};

/// A row that `row!` declares. Every list of its columns has the order of the declaration.
pub(crate) trait Row: Sized {
    type Table: 'static;
    /// An array for each column.
    type Arrays<'r>
    where
        Self: 'r;

    const TABLE: &'static str;
    /// Names of the columns, separated by commas.
    const COLUMN_NAMES: &'static str;

    fn arrays(rows: &[Self]) -> Self::Arrays<'_>;

    /// Appends rows as a table expression. Its text is the same for any number of rows, so the statement stays prepared.
    fn push_arrays<'b>(arrays: &'b Self::Arrays<'_>, out: AstPass<'_, 'b, Pg>) -> QueryResult<()>;

    /// Appends the row as an element of `VALUES`.
    fn push_values<'b>(&'b self, out: AstPass<'_, 'b, Sqlite>) -> QueryResult<()>;
}

/// A SQL type, and the name that PostgreSQL gives to arrays of it.
pub(crate) trait ArrayOf {
    const NAME: &'static str;
}

macro_rules! arrays {
    ($($sql:ty: $name:literal),+ $(,)?) => {
        $(impl ArrayOf for $sql {
            const NAME: &'static str = $name;
        })+
    };
}

arrays!(
    BigInt: "bigint[]",
    Binary: "bytea[]",
    Bool: "boolean[]",
    Identifier: "uuid[]",
    Integer: "integer[]",
    Moment: "timestamptz[]",
    SmallInt: "smallint[]",
    Text: "text[]",
);

impl<T: ArrayOf> ArrayOf for Nullable<T> {
    const NAME: &'static str = T::NAME;
}

/// Declares the struct of a row and implements `Row` for it: `#[derive(…)] struct Name in table { column: type, … }`.
macro_rules! row {
    ($(#[$meta:meta])* struct $row:ident $(<$life:lifetime>)? in $table:ident {
        $($column:ident: $type:ty),+ $(,)?
    }) => {
        $(#[$meta])*
        #[diesel(table_name = $table, treat_none_as_default_value = false)]
        pub(crate) struct $row $(<$life>)? {
            $(pub(crate) $column: $type,)+
        }

        impl $(<$life>)? $row $(<$life>)? {
            /// Number of columns, which is the number of values that an inserted row binds.
            pub(crate) const COLUMNS: usize = [$(stringify!($column)),+].len();
        }

        impl $(<$life>)? $crate::rows::Row for $row $(<$life>)? {
            type Table = $table::table;
            type Arrays<'r> = ($(Vec<&'r $type>,)+) where Self: 'r;

            const TABLE: &'static str = stringify!($table);
            const COLUMN_NAMES: &'static str = concat!($(", ", stringify!($column)),+).split_at(2).1;

            fn arrays(rows: &[Self]) -> Self::Arrays<'_> {
                ($(rows.iter().map(|row| &row.$column).collect(),)+)
            }

            fn push_arrays<'b>(
                ($($column,)+): &'b Self::Arrays<'_>,
                mut out: diesel::query_builder::AstPass<'_, 'b, diesel::pg::Pg>,
            ) -> diesel::QueryResult<()> {
                use diesel::dsl::SqlTypeOf;
                use diesel::pg::sql_types::Array;
                let mut left = Self::COLUMNS;
                out.push_sql("unnest(");
                $(
                    out.push_bind_param::<Array<SqlTypeOf<$table::$column>>, _>($column)?;
                    out.push_sql("::");
                    out.push_sql(<SqlTypeOf<$table::$column> as $crate::rows::ArrayOf>::NAME);
                    left -= 1;
                    out.push_sql(if left > 0 { ", " } else { ")" });
                )+
                Ok(())
            }

            fn push_values<'b>(
                &'b self,
                mut out: diesel::query_builder::AstPass<'_, 'b, diesel::sqlite::Sqlite>,
            ) -> diesel::QueryResult<()> {
                use diesel::dsl::SqlTypeOf;
                let mut left = Self::COLUMNS;
                out.push_sql("(");
                $(
                    out.push_bind_param::<SqlTypeOf<$table::$column>, _>(&self.$column)?;
                    left -= 1;
                    out.push_sql(if left > 0 { ", " } else { ")" });
                )+
                Ok(())
            }
        }
    };
}

pub(super) use row;
