//! The options and the results of opening a database.

use std::path::Path;
use std::sync::Arc;

use guerdon_domain::commands::CommandQueue;
use guerdon_domain::ports::Store;

/// The number of connections of a command: one for each part of an audit, because the parts run concurrently.
pub(crate) const COMMAND_CONNECTIONS: u32 = 4;

/// The purpose for which a database is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// The service.
    Serve,
    /// The service, even on a PostgreSQL server that would lose commits in a crash, and without spare connections. For
    /// tests.
    ServeWithoutDurability,
    /// A single command of the operator, which needs only a few connections. Its transactions have no
    /// deadline; the commands that it submits to the queue have the deadline of a request.
    Command,
}

/// An open database. Requests and background jobs do not compete for the same connections.
pub struct OpenDatabase {
    /// For work that a client waits for. A unit of work that is not committed within
    /// `Deadlines::COMMIT` is rolled back. On PostgreSQL, reads and writes have separate connections.
    pub requests: Arc<dyn Store>,
    /// For commands that move points, from requests, the operator and schedules.
    pub commands: Arc<dyn CommandQueue>,
    /// For background jobs: deliveries, maintenance, the console. A unit of work as a whole has no deadline.
    pub background: Arc<dyn Store>,
    /// For the health check, which must not wait for background jobs: one connection.
    pub health: Arc<dyn Store>,
}

/// Why a database was not opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The URL is invalid.
    #[error("{0}")]
    Url(String),
    /// The database does not exist yet.
    #[error(
        "{0}; `guerdon migrate` creates the database, and so does `guerdon serve` if database.migrate is true"
    )]
    Missing(String),
    /// Another process has opened the embedded database.
    #[error("{0} is in use by another process")]
    Locked(String),
    /// The database has migrations that this program does not know and cannot work with.
    #[error("the database is newer than this program: migration {0} is applied")]
    Newer(String),
    /// The database lacks migrations, or some are in progress.
    #[error("the database is older than this program: run `guerdon migrate`")]
    Older,
    /// A dump of another PostgreSQL server was restored here: the positions of new entries would precede
    /// existing ones.
    #[error(
        "the database was restored from a dump of another server: run `guerdon migrate` before anything else"
    )]
    Restored,
    /// An applied migration differs from this program's version of it.
    #[error("migration {0} was changed after it was applied: this program has a different version of it")]
    Changed(String),
    /// Any other failure, such as a server that does not respond.
    #[error("{0}")]
    Failed(String),
}

impl OpenError {
    /// No embedded database exists at this path.
    pub fn no_file(path: &Path) -> Self {
        Self::Missing(format!(
            "{} does not exist: check --config, GUERDON_DATA_DIR and the working directory",
            path.display()
        ))
    }

    pub(crate) fn failed_because(what: &str, cause: &dyn std::fmt::Display) -> Self {
        let cause = cause.to_string();
        Self::Failed(format!("{what}: {}", cause.lines().collect::<Vec<_>>().join(" ")))
    }
}

pub(crate) fn thread_error(cause: &std::io::Error) -> OpenError {
    OpenError::failed_because("cannot start a thread", cause)
}
