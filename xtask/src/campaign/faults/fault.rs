//! The faults that can be injected, and how.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result};
use guerdon_test_harness::{ConnectionFault, DatabaseProxy, Reply, Signal, WebhookReceiver};

use super::preload::{DiskFault, PreloadedFaults};
use crate::measurement::cpu;
use crate::measurement::service::Database;
use crate::postgres::Cluster;

const DURATION: Duration = Duration::from_secs(10);
/// Long enough for every timeout of a request and of a connection.
const FREEZE_DURATION: Duration = Duration::from_secs(30);
const DAY_SECONDS: i64 = 86_400;
/// The interval between two cuts of all connections.
const CUT_INTERVAL: Duration = Duration::from_millis(200);

/// The beginning of a response whose head never ends.
const SLOW_RESPONSE: &[u8] = b"HTTP/1.1 200 OK\r\nX-Slow: ";

/// A fault under load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    Disk(DiskFault),
    Connections(ConnectionFault),
    /// All connections to PostgreSQL are closed repeatedly; new ones work.
    CutConnections,
    /// PostgreSQL is stopped without a checkpoint and started again.
    RestartedServer,
    /// All processes of PostgreSQL are frozen.
    FrozenServer,
    /// The wall clock jumps ahead by three days, and back to the right time at the end.
    ClockAhead,
    /// The wall clock jumps back by a day, and ahead to the right time at the end.
    ClockBehind,
    /// The receiver of events does not complete its responses.
    SlowReceiver,
}

/// The parts of the environment into which faults are injected.
pub(super) struct FaultTargets<'a> {
    pub(super) cluster: Option<&'a Mutex<Cluster>>,
    pub(super) proxy: Option<&'a DatabaseProxy>,
    /// For the clock of the service.
    pub(super) clock: &'a PreloadedFaults,
    /// For the disk of the database.
    pub(super) disk: &'a PreloadedFaults,
    pub(super) receiver: &'a WebhookReceiver,
}

impl Fault {
    /// Returns the faults of services on a database.
    pub(super) fn all(database: Database) -> Vec<Self> {
        let common = [Self::ClockAhead, Self::ClockBehind, Self::SlowReceiver];
        let disk = [
            DiskFault::Full,
            DiskFault::WriteErrors,
            DiskFault::SyncErrors,
            DiskFault::SlowSync,
            DiskFault::ReadErrors,
            DiskFault::ShortWrites,
        ];
        let connections = [
            ConnectionFault::LostCommits,
            ConnectionFault::Refused,
            ConnectionFault::TooManyClients,
            ConnectionFault::BlackHole,
        ];
        let specific: Vec<Self> = match database {
            Database::Sqlite => disk.map(Self::Disk).into(),
            Database::Postgres => [Self::CutConnections, Self::RestartedServer, Self::FrozenServer]
                .into_iter()
                .chain(connections.map(Self::Connections))
                .chain(disk.into_iter().filter(concerns_postgres).map(Self::Disk))
                .collect(),
        };
        specific.into_iter().chain(common).collect()
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Disk(DiskFault::Full) => "disk full",
            Self::Disk(DiskFault::WriteErrors) => "I/O errors in writes",
            Self::Disk(DiskFault::SyncErrors) => "I/O errors in fsync",
            Self::Disk(DiskFault::SlowSync) => "slow fsync",
            Self::Disk(DiskFault::ReadErrors) => "I/O errors in reads",
            Self::Disk(DiskFault::ShortWrites) => "partial writes",
            Self::Connections(ConnectionFault::LostCommits) => "acknowledgements of commits lost",
            Self::Connections(ConnectionFault::Refused) => "connections cut and refused",
            Self::Connections(ConnectionFault::TooManyClients) => "connections cut, none free",
            Self::Connections(ConnectionFault::BlackHole) => "connections silent, then cut",
            Self::CutConnections => "connections cut",
            Self::RestartedServer => "PostgreSQL restarted",
            Self::FrozenServer => "PostgreSQL frozen",
            Self::ClockAhead => "clock three days ahead",
            Self::ClockBehind => "clock a day behind",
            Self::SlowReceiver => "slow receiver",
        }
    }

    /// Whether an unexpected response is due to the fault. SQLite reports failed reads as damage of the database, for
    /// which the response is 500.
    pub(super) fn permits(self, response: &str) -> bool {
        self == Self::Disk(DiskFault::ReadErrors) && response.starts_with("500: ")
    }

    /// Whether reads must succeed during the fault.
    pub(super) fn permits_reads(self) -> bool {
        match self {
            Self::Disk(fault) => fault != DiskFault::ReadErrors,
            Self::ClockAhead | Self::ClockBehind | Self::SlowReceiver => true,
            Self::Connections(_) | Self::CutConnections | Self::RestartedServer | Self::FrozenServer => false,
        }
    }

    /// Injects the fault for some seconds, or once if it has no duration, and ends it.
    pub(super) fn inject(self, targets: &FaultTargets<'_>) -> Result<()> {
        let duration = if self == Self::FrozenServer { FREEZE_DURATION } else { DURATION };
        let FaultTargets { cluster, proxy, clock, disk, receiver } = targets;
        let cluster = || {
            let cluster = cluster.context("no PostgreSQL")?;
            anyhow::Ok(cluster.lock().unwrap_or_else(PoisonError::into_inner))
        };
        let proxy = || proxy.context("no proxy in front of PostgreSQL");
        match self {
            Self::Disk(fault) => {
                disk.set_disk_fault(Some(fault))?;
                std::thread::sleep(duration);
                disk.set_disk_fault(None)
            }
            Self::Connections(fault) => {
                let proxy = proxy()?;
                proxy.set_fault(Some(fault));
                if matches!(fault, ConnectionFault::Refused | ConnectionFault::TooManyClients) {
                    proxy.cut_connections();
                }
                std::thread::sleep(duration);
                proxy.set_fault(None);
                if fault == ConnectionFault::BlackHole {
                    proxy.cut_connections(); // as TCP does when it learns that the other side has lost them
                }
                Ok(())
            }
            Self::CutConnections => {
                let proxy = proxy()?;
                for _ in 0..duration.as_millis() / CUT_INTERVAL.as_millis() {
                    proxy.cut_connections();
                    std::thread::sleep(CUT_INTERVAL);
                }
                Ok(())
            }
            Self::RestartedServer => cluster()?.restart_immediately(),
            Self::FrozenServer => {
                let server = cluster()?.process_id();
                cpu::signal_tree(server, Signal::STOP)?;
                std::thread::sleep(duration);
                cpu::signal_tree(server, Signal::CONT)
            }
            Self::ClockAhead => jump_clock(clock, 3 * DAY_SECONDS, duration),
            Self::ClockBehind => jump_clock(clock, -DAY_SECONDS, duration),
            Self::SlowReceiver => {
                receiver.set_default_reply(Reply::Drip(SLOW_RESPONSE));
                std::thread::sleep(duration);
                receiver.set_default_reply(Reply::Status(200));
                Ok(())
            }
        }
    }
}

/// Whether a fault of the disk can be injected into PostgreSQL. After a failed `fsync`, it stops until the disk is
/// repaired, and its tables are read from its cache.
fn concerns_postgres(fault: &DiskFault) -> bool {
    !matches!(fault, DiskFault::SyncErrors | DiskFault::ReadErrors)
}

fn jump_clock(clock: &PreloadedFaults, seconds: i64, duration: Duration) -> Result<()> {
    clock.set_clock_offset(seconds)?;
    std::thread::sleep(duration);
    clock.set_clock_offset(0)
}
