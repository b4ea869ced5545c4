//! Statements whose SQL never changes, so that they stay prepared. Those of diesel's `sql_query` are prepared again for
//! each execution.

/// Declares a statement of the database whose `Conn` and `Db` are in scope, with its bound values: `Name ->
/// row type { field: SQL type = Rust type, … } text, …`. The SQL strings are concatenated, and have a `?` for each
/// field.
macro_rules! statement {
    ($(#[$doc:meta])* $name:ident -> $row:ty { $($field:ident: $sql:ty = $rust:ty),* $(,)? } $($text:expr),+) => {
        $(#[$doc])*
        #[derive(diesel::query_builder::QueryId)]
        pub(super) struct $name {
            $(pub(super) $field: $rust,)*
        }

        impl diesel::query_builder::Query for $name {
            type SqlType = $row;
        }

        impl diesel::RunQueryDsl<Conn> for $name {}

        impl diesel::query_builder::QueryFragment<Db> for $name {
            fn walk_ast<'b>(
                &'b self,
                mut out: diesel::query_builder::AstPass<'_, 'b, Db>,
            ) -> diesel::QueryResult<()> {
                let mut parts = [$($text),+].into_iter().flat_map(|text| text.split_inclusive('?'));
                $(
                    for part in parts.by_ref() {
                        out.push_sql(part.trim_end_matches('?'));
                        if part.ends_with('?') {
                            break;
                        }
                    }
                    out.push_bind_param::<$sql, _>(&self.$field)?;
                )*
                parts.by_ref().for_each(|part| out.push_sql(part));
                Ok(())
            }
        }
    };
}

pub(crate) use statement;
