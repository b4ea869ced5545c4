//! The cases by name, and how long to measure them.

use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use clap::ValueEnum;

use super::baseline::BaselineProgram;
use crate::postgres::{Cluster, ServerDatabase};

/// A case that can be measured alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, ValueEnum)]
pub(super) enum Case {
    /// POST recognitions, one receiver, a thousand senders
    Post,
    /// POST recognitions, a fresh Idempotency-Key each
    PostKeyed,
    /// POST recognitions from one reserve
    PostReserve,
    /// POST recognitions to ten receivers each
    PostTen,
    /// GET one user
    GetUser,
    /// GET a user's balances
    GetBalances,
    /// GET transactions, pages of 100
    GetTransactions,
    /// 20,000 pending events to one receiver with a host name
    Deliver,
    /// POST recognitions while their events are delivered
    AcceptAndDeliver,
    /// Commit to first byte at a receiver, 20 events per second
    Latency,
    /// A healthy receiver while 50 others hang
    Hanging,
    /// `distribution run` to 100,000 users (PostgreSQL)
    Distribution,
    /// Every endpoint with 1,000,000 users and 10,000,000 transfers; only if named, because creating the database
    /// takes about ten minutes the first time
    Large,
}

impl Case {
    pub(super) const READS: [Self; 3] = [Self::GetUser, Self::GetBalances, Self::GetTransactions];

    pub(super) fn name(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }
}

/// How and where a case is measured.
pub(super) struct Plan<'a> {
    pub(super) cases: &'a [Case],
    pub(super) seconds: u64,
    pub(super) rounds: usize,
    pub(super) baseline_program: &'a BaselineProgram,
    pub(super) cluster: Option<&'a Cluster>,
    /// The service's database; `None` for the file in its folder.
    pub(super) database: Option<ServerDatabase>,
}

impl Plan<'_> {
    pub(super) fn has_case(&self, case: Case) -> bool {
        self.cases.contains(&case)
    }

    pub(super) fn period(&self) -> Duration {
        Duration::from_secs(self.seconds)
    }

    /// Returns the address of the service's database for a client.
    pub(super) fn database_address(&self, data: &Path) -> String {
        let in_folder = || data.join("guerdon.db").display().to_string();
        self.database.as_ref().map_or_else(in_folder, |database| database.url.clone())
    }

    /// Flushes the writes of the previous round to the disk, so that they do not slow down the next one.
    pub(super) fn flush_writes(&self) -> Result<()> {
        if let Some(cluster) = self.cluster {
            cluster.run_sql(&cluster.url(), "CHECKPOINT")?;
        }
        Ok(())
    }
}
