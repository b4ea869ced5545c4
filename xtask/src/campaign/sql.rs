//! Runs SQL on the database of a service, while the service runs or afterwards.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use crate::postgres::{Cluster, run_psql};
use crate::workspace::{Workspace, command_output};

/// A database, and the program that runs SQL on it.
#[derive(Clone)]
pub(super) enum SqlClient {
    Sqlite { program: PathBuf, file: PathBuf },
    Postgres { psql: PathBuf, url: String },
}

impl SqlClient {
    /// A client of an SQLite file. Builds `guerdon-baseline`, one of whose commands runs SQL with the service's version
    /// of SQLite.
    pub(super) fn for_file(workspace: &Workspace, file: &Path) -> Result<Self> {
        let program = workspace.build_baseline()?;
        Ok(Self::Sqlite { program, file: file.to_path_buf() })
    }

    /// A client of a database of this cluster.
    pub(super) fn for_cluster(cluster: &Cluster, database: &str) -> Self {
        Self::Postgres { psql: cluster.program_path("psql"), url: cluster.database_url(database) }
    }

    pub(super) fn is_sqlite(&self) -> bool {
        matches!(self, Self::Sqlite { .. })
    }

    /// Runs statements in one transaction, or one query, whose rows are returned as lines with `|` between columns.
    pub(super) fn run_sql(&self, sql: &str) -> Result<String> {
        match self {
            Self::Sqlite { program, file } => {
                command_output(Command::new(program).arg("sql").arg(file).arg(sql))
            }
            Self::Postgres { psql, url } => run_psql(psql, url, sql),
        }
    }
}
