//! The parameters of campaigns.

use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use tempfile::TempDir;

use super::sql::SqlClient;
use crate::measurement::service::{Database, RunningService};
use crate::postgres::Cluster;
use crate::workspace::Workspace;

/// The database of an attacked service on PostgreSQL.
pub(super) const ATTACK_DATABASE: &str = "attack";

/// The parameters of a campaign on one database.
pub(super) struct Setup<'a> {
    pub(super) workspace: &'a Workspace,
    /// The service under test.
    pub(super) program: &'a Path,
    pub(super) database: Database,
    /// The time that the campaign fits its work into, without preparations.
    pub(super) duration: Duration,
    /// The load of the campaign `soak`, in percent of the peak.
    pub(super) load_percent: u32,
    /// The `pg_config` of an installation with Citus.
    pub(super) pg_config: Option<&'a Path>,
    /// The seed of the random generator.
    pub(super) seed: u64,
}

/// A service under attack.
pub(super) struct AttackContext<'a> {
    pub(super) setup: &'a Setup<'a>,
    pub(super) service: &'a RunningService,
    pub(super) cluster: Option<&'a Cluster>,
}

impl AttackContext<'_> {
    /// Returns the duration of each of several equal periods of measurement.
    pub(super) fn period(&self, periods: u32) -> Duration {
        self.setup.duration / periods
    }

    /// Returns a client of the service's database.
    pub(super) fn sql_client(&self) -> Result<SqlClient> {
        match self.cluster {
            Some(cluster) => Ok(SqlClient::for_cluster(cluster, ATTACK_DATABASE)),
            None => SqlClient::for_file(self.setup.workspace, &self.service.installation().database_file()),
        }
    }
}

/// Creates a folder for the files of a campaign, which is removed when it is dropped.
pub(super) fn temporary_folder() -> Result<TempDir> {
    Ok(tempfile::Builder::new().prefix("guerdon-campaign-").tempdir()?)
}

/// Gives the calling thread the lowest priority.
pub(super) fn lower_priority() {
    if let Err(error) = rustix::process::nice(19) {
        eprintln!("the attackers run at the service's own priority: {error}");
    }
}
