//! Many rows as arrays of their columns, so that the text of a statement is the same for any number of them and it stays
//! prepared.

pub(super) use crate::rows::ArrayOf;

/// A value of a row as it stands in an array, which outlives the row.
pub(super) trait Kept<T> {
    fn kept(&self) -> T;
}

impl<T: Clone> Kept<T> for T {
    fn kept(&self) -> T {
        self.clone()
    }
}

impl Kept<Vec<u8>> for &[u8] {
    fn kept(&self) -> Vec<u8> {
        self.to_vec()
    }
}

impl Kept<Option<String>> for Option<&str> {
    fn kept(&self) -> Option<String> {
        self.map(str::to_owned)
    }
}

/// The columns of rows, in the order of their list: `Name of Row in "table" { column: SQL type = Rust type, … }`. By itself
/// it is the statement that inserts them.
macro_rules! columns {
    ($(#[$doc:meta])* $name:ident of $row:ident $(<$life:lifetime>)?, in $table:literal {
        $($column:ident: $sql:ty = $rust:ty),+ $(,)?
    }) => {
        $(#[$doc])*
        pub(super) struct $name {
            $($column: Vec<$rust>,)+
        }

        impl $name {
            /// Their names, separated by commas.
            pub(super) fn names() -> &'static str {
                concat!($(", ", stringify!($column)),+).trim_start_matches(", ")
            }

            /// The pattern has no `..`: a field of the row that the list omits is a compile error.
            pub(super) fn of(rows: &[$row $(<$life>)?]) -> Self {
                let mut arrays = Self { $($column: Vec::with_capacity(rows.len()),)+ };
                for $row { $($column),+ } in rows {
                    $(arrays.$column.push($column.kept());)+
                }
                arrays
            }

            /// The rows as a table of its own.
            pub(super) fn unnest<'b>(&'b self, mut out: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
                const FIRST: &str = [$(stringify!($column)),+][0];
                out.push_sql("unnest(");
                $(
                    if stringify!($column) != FIRST {
                        out.push_sql(", ");
                    }
                    out.push_bind_param::<Array<$sql>, _>(&self.$column)?;
                    out.push_sql("::");
                    out.push_sql(<$sql as ArrayOf>::NAME);
                )+
                out.push_sql(")");
                Ok(())
            }
        }

        impl QueryId for $name {
            type QueryId = Self;
            const HAS_STATIC_QUERY_ID: bool = true;
        }

        impl RunQueryDsl<PgConnection> for $name {}

        impl QueryFragment<Pg> for $name {
            fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
                out.push_sql(concat!("INSERT INTO ", $table, " ("));
                out.push_sql(Self::names());
                out.push_sql(") SELECT * FROM ");
                self.unnest(out.reborrow())
            }
        }
    };
}

pub(super) use columns;
