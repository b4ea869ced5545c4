//! Whether one statement may write to several tables.

/// How the rows of several tables are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WriteForm {
    /// With one statement for all tables.
    OneStatement,
    /// With one statement for each table, which lists the rows. This is for Citus, which runs a statement that writes
    /// to several tables, or that inserts the rows of a query, as a transaction on several nodes. Such a transaction
    /// commits on the coordinator first and on the node with the tables later, so readers of the feed would miss
    /// events.
    StatementPerTable,
}

impl WriteForm {
    /// Whether a commit must first write a record to the write-ahead log, because it would write none itself.
    pub(crate) fn needs_log_record(self) -> bool {
        self == Self::StatementPerTable
    }
}
