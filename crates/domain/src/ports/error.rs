//! Failures of the store.

/// Why the store could not serve.
#[derive(Debug, Clone, thiserror::Error)]
pub enum StoreError {
    /// Lost a race more often than it is worth trying again.
    #[error("the database is busy")]
    Contended,
    /// The database cannot be reached, or a commit's fate is unknown; for the log, never for a client.
    #[error("the database is unavailable: {0}")]
    Unavailable(String),
    /// A stored value breaks its own rules.
    #[error("{table}.{column} of {id} is corrupt")]
    Corrupt {
        table: &'static str,
        column: &'static str,
        /// The row's id.
        id: String,
    },
    /// A fault of the program or its schema; for the log, never for a client.
    #[error("the database refused: {0}")]
    Broken(String),
}
