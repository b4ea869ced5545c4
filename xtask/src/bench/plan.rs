//! What is measured: the cases by their names, and for how long.

use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use clap::ValueEnum;

use super::ceiling::Ceilings;
use crate::postgres::Cluster;

/// A case that can be measured by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, ValueEnum)]
pub(super) enum Case {
    /// POST recognitions, one receiver, a thousand senders
    Post,
    /// The same with a fresh Idempotency-Key each
    PostKeyed,
    /// POST recognitions, every sender one reserve
    PostReserve,
    /// POST recognitions to ten receivers each
    PostTen,
    /// GET one user
    GetUser,
    /// GET a user's balances
    GetBalances,
    /// GET transactions, pages of 100
    GetTransactions,
    /// 20,000 events that wait, to one receiver by name
    Deliver,
    /// POST recognitions while their events are delivered
    AcceptAndDeliver,
    /// Commit to first byte at a receiver, 20 events a second
    Latency,
    /// A healthy receiver beside 50 that hang
    Hanging,
    /// `distribution run` to 100,000 users (PostgreSQL)
    Distribution,
    /// Every endpoint with 1,000,000 users and 10,000,000 transfers behind it; only where it is named, since it is made
    /// first, which takes some ten minutes, and kept
    Large,
}

impl Case {
    pub(super) const READS: [Self; 3] = [Self::GetUser, Self::GetBalances, Self::GetTransactions];

    pub(super) fn name(self) -> String {
        self.to_possible_value().map(|it| it.get_name().to_owned()).unwrap_or_default()
    }
}

/// How a case is measured, and where.
pub(super) struct Plan<'a> {
    pub(super) cases: &'a [Case],
    pub(super) seconds: u64,
    pub(super) rounds: usize,
    pub(super) ceilings: &'a Ceilings,
    pub(super) cluster: Option<&'a Cluster>,
    /// Where the service's database is: a URL, or none where it is the file in its folder.
    pub(super) database: Option<&'a str>,
}

impl Plan<'_> {
    pub(super) fn has(&self, case: Case) -> bool {
        self.cases.contains(&case)
    }

    pub(super) fn period(&self) -> Duration {
        Duration::from_secs(self.seconds)
    }

    /// What a connection to the service's database is opened by.
    pub(super) fn database_of(&self, data: &Path) -> String {
        self.database.map_or_else(|| data.join("guerdon.db").display().to_string(), str::to_owned)
    }

    /// Brings to the disk what a round before left, so that the next does not pay for it.
    pub(super) fn settle(&self) -> Result<()> {
        if let Some(cluster) = self.cluster {
            cluster.psql(&cluster.url(), "CHECKPOINT")?;
        }
        Ok(())
    }
}
