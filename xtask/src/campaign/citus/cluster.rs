//! A Citus cluster: a coordinator and two workers on loopback.

use std::time::Duration;

use anyhow::{Context, Result};

use crate::campaign::postgres_server::{PostgresServer, Programs, ServerFolder};
use crate::campaign::sql::SqlClient;
use crate::measurement::service::free_address;

const DATABASE: &str = "cells";
/// Settings of each server. Each connection of a service to the coordinator opens another one to a worker.
const SETTINGS: &str = "
shared_preload_libraries = 'citus'
wal_level = logical
max_prepared_transactions = 200
max_replication_slots = 20
max_wal_senders = 20
max_worker_processes = 24
citus.enable_schema_based_sharding = on
citus.enable_unsafe_triggers = on
citus.node_conninfo = 'sslmode=disable'
citus.enable_statistics_collection = off
";
/// The pause after each change of `synchronous_standby_names`. Within this time, the change takes effect, and commits
/// that no longer wait complete.
const SETTING_DELAY: Duration = Duration::from_millis(300);

pub(super) struct CitusCluster {
    coordinator: PostgresServer,
    workers: [PostgresServer; 2],
}

impl CitusCluster {
    pub(super) fn start(programs: &Programs) -> Result<Self> {
        let start = || -> Result<PostgresServer> {
            let folder = ServerFolder::new(free_address()?.port())?;
            folder.initialize_cluster(programs)?;
            folder.append_settings(SETTINGS)?;
            let server = folder.start_restartable(programs).context("is Citus installed there?")?;
            server.run_sql("postgres", &format!("CREATE DATABASE {DATABASE}"))?;
            server.run_sql(DATABASE, "CREATE EXTENSION citus")?;
            Ok(server)
        };
        let cluster = Self { coordinator: start()?, workers: [start()?, start()?] };
        let coordinator = cluster.coordinator.port();
        cluster.run_sql(&format!("SELECT citus_set_coordinator_host('127.0.0.1', {coordinator})"))?;
        for worker in &cluster.workers {
            cluster.run_sql(&format!("SELECT citus_add_node('127.0.0.1', {})", worker.port()))?;
        }
        cluster.run_sql(&format!(
            "SELECT citus_set_node_property('127.0.0.1', {coordinator}, 'shouldhaveshards', false)"
        ))?;
        // The limit is set for the role, because Citus does not pass a session's `lock_timeout` on to the workers.
        cluster.run_sql("ALTER ROLE postgres SET lock_timeout = '2s'")?;
        Ok(cluster)
    }

    /// Creates a schema and returns a URL that selects it.
    pub(super) fn create_schema(&self, schema: &str) -> Result<String> {
        self.run_sql(&format!("CREATE SCHEMA {schema}"))?;
        Ok(self.url(schema))
    }

    pub(super) fn sql_client(&self, schema: &str) -> SqlClient {
        self.coordinator.sql_client(self.url(schema))
    }

    /// Returns the process id of the coordinator.
    pub(super) fn process_id(&self) -> u32 {
        self.coordinator.process_id()
    }

    /// Makes commits on the worker of a schema wait for this long.
    pub(super) fn delay_commits_of_worker(&self, schema: &str, delay: Duration) -> Result<()> {
        let worker = self.workers.get(self.worker_of(schema)?).context("no worker")?;
        delay_commits(worker, delay)
    }

    /// Makes commits on the coordinator wait for this long, after the worker has committed.
    pub(super) fn delay_commits_of_coordinator(&self, delay: Duration) -> Result<()> {
        delay_commits(&self.coordinator, delay)
    }

    /// Moves a schema to the other worker.
    pub(super) fn move_schema(&self, schema: &str) -> Result<()> {
        let other = self.workers.get(1 - self.worker_of(schema)?).context("no worker")?;
        let statement = format!("SELECT citus_schema_move('{schema}', '127.0.0.1', {})", other.port());
        self.run_sql(&statement).map(drop)
    }

    /// Kills the worker of a schema, and starts it again after a pause.
    pub(super) fn kill_worker(&mut self, schema: &str, programs: &Programs, pause: Duration) -> Result<()> {
        let number = self.worker_of(schema)?;
        self.workers.get_mut(number).context("no worker")?.restart_after_kill(programs, pause)
    }

    /// The number of the worker that has the tables of a schema.
    fn worker_of(&self, schema: &str) -> Result<usize> {
        let port = self.run_sql(&format!(
            "SELECT nodeport FROM pg_dist_node JOIN pg_dist_placement USING (groupid) JOIN pg_dist_shard USING (shardid) \
             WHERE logicalrelid = '{schema}.settings'::regclass"
        ))?;
        let port: u16 = port.trim().parse().context("the port of a worker")?;
        self.workers.iter().position(|worker| worker.port() == port).context("no worker has the schema")
    }

    fn url(&self, schema: &str) -> String {
        format!("{}?options=-csearch_path%3D{schema}", self.coordinator.database_url(DATABASE))
    }

    fn run_sql(&self, sql: &str) -> Result<String> {
        self.coordinator.run_sql(DATABASE, sql)
    }
}

/// Makes commits of a server wait for a standby that does not exist, for this long.
fn delay_commits(server: &PostgresServer, delay: Duration) -> Result<()> {
    let set_standby = |name: &str| -> Result<()> {
        server.run_sql("postgres", &format!("ALTER SYSTEM SET synchronous_standby_names = '{name}'"))?;
        server.run_sql("postgres", "SELECT pg_reload_conf()")?;
        std::thread::sleep(SETTING_DELAY);
        Ok(())
    };
    set_standby("nobody")?;
    std::thread::sleep(delay);
    set_standby("")
}
