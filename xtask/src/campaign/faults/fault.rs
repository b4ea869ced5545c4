//! The faults that can be injected, and how.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

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
/// How long PostgreSQL may take to accept connections again after it stopped.
const READY_TIMEOUT: Duration = Duration::from_secs(60);
const READY_POLL_INTERVAL: Duration = Duration::from_millis(20);

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
    /// PostgreSQL requires a synchronous standby, but none is connected: commits wait, reads succeed.
    MissingStandby,
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
            Database::Postgres => {
                let server =
                    [Self::CutConnections, Self::RestartedServer, Self::FrozenServer, Self::MissingStandby];
                let log = [DiskFault::LogFull, DiskFault::LogSyncErrors];
                let disk = disk.into_iter().filter(concerns_postgres).chain(log).map(Self::Disk);
                server.into_iter().chain(connections.map(Self::Connections)).chain(disk).collect()
            }
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
            Self::Disk(DiskFault::LogFull) => "disk of the write-ahead log full",
            Self::Disk(DiskFault::LogSyncErrors) => "I/O errors in fsync of the write-ahead log",
            Self::Connections(ConnectionFault::LostCommits) => "acknowledgements of commits lost",
            Self::Connections(ConnectionFault::HeldCommits) => "commits held back",
            Self::Connections(ConnectionFault::Refused) => "connections cut and refused",
            Self::Connections(ConnectionFault::TooManyClients) => "connections cut, none free",
            Self::Connections(ConnectionFault::BlackHole) => "connections silent, then cut",
            Self::CutConnections => "connections cut",
            Self::RestartedServer => "PostgreSQL restarted",
            Self::FrozenServer => "PostgreSQL frozen",
            Self::MissingStandby => "synchronous standby missing",
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
            Self::Disk(fault) => fault != DiskFault::ReadErrors && !stops_postgres(fault),
            Self::MissingStandby | Self::ClockAhead | Self::ClockBehind | Self::SlowReceiver => true,
            Self::Connections(_) | Self::CutConnections | Self::RestartedServer | Self::FrozenServer => false,
        }
    }

    /// Whether no commit can succeed during the fault, so that some requests must get 503.
    pub(super) fn prevents_commits(self) -> bool {
        match self {
            Self::Disk(fault) => stops_postgres(fault),
            Self::Connections(fault) => fault != ConnectionFault::LostCommits,
            Self::FrozenServer | Self::MissingStandby => true,
            Self::CutConnections
            | Self::RestartedServer
            | Self::ClockAhead
            | Self::ClockBehind
            | Self::SlowReceiver => false,
        }
    }

    /// Injects the fault for some seconds, or once if it has no duration, and ends it. PostgreSQL then accepts
    /// connections.
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
                disk.set_disk_fault(None)?;
                if stops_postgres(fault) { start_if_stopped(&mut *cluster()?) } else { Ok(()) }
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
            Self::MissingStandby => {
                let cluster = cluster()?;
                configure_server(&cluster, "SET synchronous_standby_names = '*'")?;
                std::thread::sleep(duration);
                configure_server(&cluster, "RESET synchronous_standby_names")
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

/// Whether PostgreSQL panics: it ends all sessions and cannot recover before the fault ends. Depending on the time of
/// the panic, its main process ends too.
fn stops_postgres(fault: DiskFault) -> bool {
    matches!(fault, DiskFault::LogFull | DiskFault::LogSyncErrors)
}

/// Waits until the server accepts connections. Starts it if its main process has ended.
fn start_if_stopped(cluster: &mut Cluster) -> Result<()> {
    let start = Instant::now();
    while let Err(error) = cluster.run_sql(&cluster.url(), "SELECT 1") {
        if start.elapsed() > READY_TIMEOUT {
            return Err(error.context("PostgreSQL did not start after the fault"));
        }
        if has_ended(cluster.process_id()) {
            cluster.restart_immediately()?;
        }
        std::thread::sleep(READY_POLL_INTERVAL);
    }
    Ok(())
}

/// Whether a child process has ended. Until its parent waits for it, it remains as a zombie.
fn has_ended(process_id: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{process_id}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_none_or(|(_, state)| state.starts_with('Z'))
}

/// Changes a setting of the server with `ALTER SYSTEM`, and reloads it.
fn configure_server(cluster: &Cluster, change: &str) -> Result<()> {
    cluster.run_sql(&cluster.url(), &format!("ALTER SYSTEM {change}"))?;
    cluster.run_sql(&cluster.url(), "SELECT pg_reload_conf()").map(drop)
}

fn jump_clock(clock: &PreloadedFaults, seconds: i64, duration: Duration) -> Result<()> {
    clock.set_clock_offset(seconds)?;
    std::thread::sleep(duration);
    clock.set_clock_offset(0)
}

#[cfg(test)]
mod tests {
    use std::process::Command;
    use std::time::{Duration, Instant};

    use super::has_ended;

    #[test]
    fn an_ended_process_is_recognized_before_and_after_its_parent_waits() {
        let mut child = Command::new("true").spawn().unwrap();
        let start = Instant::now();
        while !has_ended(child.id()) {
            assert!(start.elapsed() < Duration::from_secs(60));
            std::thread::yield_now();
        }
        assert!(!has_ended(std::process::id()));
        assert!(child.wait().unwrap().success());
        assert!(has_ended(child.id()));
    }
}
