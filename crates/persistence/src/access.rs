//! What opening a database needs to be told, and what it answers.

use std::path::Path;
use std::sync::Arc;

use guerdon_domain::commands::CommandQueue;
use guerdon_domain::ports::Store;

/// As many as an audit has parts.
pub(crate) const CONNECTIONS_OF_A_COMMAND: u32 = 4;

/// Who opens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// The service.
    Serve,
    /// The service, on a PostgreSQL too that would lose commits in a crash: for tests.
    Rehearse,
    /// A single command of the operator: a few connections are enough. Its transactions have no deadline; what it submits to the
    /// queue has that of a request.
    Command,
}

/// One database, open: two ways into it that do not wait for each other's connections.
pub struct Opened {
    /// For what a client waits for. A unit that is not committed within `Deadlines::REQUEST.commit` is rolled back. On
    /// PostgreSQL reads and writes have connections of their own.
    pub requests: Arc<dyn Store>,
    /// For commands that move points: those of requests, of the operator and of schedules.
    pub commands: Arc<dyn CommandQueue>,
    /// For what goes on beside the requests: health, deliveries, upkeep. A unit as a whole has no deadline.
    pub background: Arc<dyn Store>,
}

/// Why a database was not opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The URL is not one of ours.
    #[error("{0}")]
    Url(String),
    /// There is no database yet.
    #[error(
        "{0}; `guerdon migrate` creates the database, and so does `guerdon serve` if database.migrate is true"
    )]
    Missing(String),
    /// Another process has the embedded database open.
    #[error("another process has {0} open")]
    Locked(String),
    /// The database has migrations that this program does not know, and cannot work beside.
    #[error("the database is newer than this program: it has the migration {0}")]
    Newer(String),
    /// The database lacks migrations, or some are under way.
    #[error("the database is older than this program: run `guerdon migrate`")]
    Older,
    /// A dump of another PostgreSQL server was restored here: new entries would come before those that are there.
    #[error(
        "the database was restored from a dump of another server: run `guerdon migrate` before anything else"
    )]
    Restored,
    /// A migration was not applied as this program knows it.
    #[error("the migration {0} was changed after it was applied: this program's text of it is another")]
    Changed(String),
    /// Anything else, such as a server that does not answer.
    #[error("{0}")]
    Failed(String),
}

impl OpenError {
    /// There is no file of an embedded database at this path.
    pub fn no_file(path: &Path) -> Self {
        Self::Missing(format!(
            "{} does not exist: check --config, GUERDON_DATA_DIR and the working directory",
            path.display()
        ))
    }

    pub(crate) fn failed(what: &str, cause: &dyn std::fmt::Display) -> Self {
        let cause = cause.to_string();
        Self::Failed(format!("{what}: {}", cause.lines().collect::<Vec<_>>().join(" ")))
    }
}
