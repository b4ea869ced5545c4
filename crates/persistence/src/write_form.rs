//! Whether one statement may write to several tables.

/// How the rows of several tables are written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum WriteForm {
    /// With one statement for all tables.
    #[default]
    OneStatement,
    /// With one statement for each table, which lists the rows: for Citus. It would run a statement for several tables, or one
    /// that inserts the rows of a query, as a transaction over several nodes, whose commit on the node of the tables follows
    /// that of the coordinator: readers of the feed would miss events.
    StatementPerTable,
}
