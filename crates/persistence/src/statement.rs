//! Statements whose text never changes, so that they stay prepared.

/// A statement of the database whose `Conn` and `Db` are in scope, with its bound values: `Name -> what a row of the answer
/// is { field: SQL type = Rust type, … } "text with a ? for each field"`.
macro_rules! statement {
    ($(#[$doc:meta])* $name:ident -> $row:ty { $($field:ident: $sql:ty = $rust:ty),* $(,)? } $text:expr) => {
        $(#[$doc])*
        pub(super) struct $name {
            $(pub(super) $field: $rust,)*
        }

        impl diesel::query_builder::QueryId for $name {
            type QueryId = Self;
            const HAS_STATIC_QUERY_ID: bool = true;
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
                let mut text = $text.split('?');
                $(
                    out.push_sql(text.next().unwrap_or_default());
                    out.push_bind_param::<$sql, _>(&self.$field)?;
                )*
                out.push_sql(text.next().unwrap_or_default());
                Ok(())
            }
        }
    };
}

pub(crate) use statement;
