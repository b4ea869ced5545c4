//! Recovers PostgreSQL to a random past time, from a base backup and its write-ahead log.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use guerdon_test_harness::{ProcessGuard, WebhookReceiver};
use guerdon_test_support::Random;
use tempfile::TempDir;

use super::super::context::Setup;
use super::super::event_log::EventLog;
use super::super::ledger::Ledger;
use super::super::load::{Load, MODERATE_INTERVAL};
use super::super::postgres_server::{PostgresServer, Programs, READY_TIMEOUT, ServerFolder};
use super::super::subject::Subject;
use super::rounds::{ExpectedState, Rounds, TargetTime};
use crate::measurement::service::free_address;
use crate::postgres::new_folder;
use crate::workspace::string_field;

const DATABASE: &str = "campaign";
const SLOT: &str = "guerdon_backup";
/// Settings of a server that archives its write-ahead log, once it has an `archive_command`.
const ARCHIVE_SETTINGS: &str =
    "archive_mode = on\narchive_command = ''\narchive_timeout = 60\nmax_slot_wal_keep_size = 20GB\n";
/// The upper limits of three random durations: of the load before the seal, from the seal to the target time, and from
/// the target time to the loss of the machine, in addition to `REPLICATION_DELAY_MAX`.
const LOAD_BEFORE_SEAL: Duration = Duration::from_secs(3);
const LOAD_BEFORE_TARGET: Duration = Duration::from_secs(3);
const LOAD_AFTER_TARGET: Duration = Duration::from_secs(4);
/// `pg_receivewal` has received a commit after at most this time.
const REPLICATION_DELAY_MAX: Duration = Duration::from_secs(1);

/// The backup of a server: a base backup, the archive, and the log that `pg_receivewal` receives.
struct Backup {
    /// The base backup, in the folder of the server that will replace this one.
    base: ServerFolder,
    archive: TempDir,
    received: TempDir,
    receiver: ProcessGuard,
}

pub(super) fn run_rounds(
    setup: &Setup<'_>,
    receiver: &WebhookReceiver,
    events: &mut EventLog<'_>,
    rounds: &mut Rounds,
) -> Result<()> {
    let programs = Programs::find(setup.workspace)?;
    let folder = ServerFolder::new(free_address()?.port())?;
    folder.initialize_cluster(&programs)?;
    folder.append_settings(ARCHIVE_SETTINGS)?;
    let mut server = folder.start(&programs)?;
    server.run_sql("postgres", &format!("CREATE DATABASE {DATABASE}"))?;
    let url = server.database_url(DATABASE);
    let mut subject = Subject::start_on(setup, receiver, Some(server.service_database(DATABASE)))?;
    let mut ledger = Ledger::new(server.sql_client(url));
    let (mut random, start) = (Random(setup.seed), Instant::now());
    for number in (1..).take_while(|number| *number == 1 || start.elapsed() < setup.duration) {
        server = run_round(&mut subject, &mut ledger, &programs, server, &mut random, rounds, number)
            .with_context(|| format!("round {number}"))?;
        events.collect_arrivals()?;
    }
    rounds.compare_all(&ledger, events)?;
    subject.verify().context("at the end")
}

/// Loses the server and returns its replacement.
fn run_round(
    subject: &mut Subject,
    ledger: &mut Ledger,
    programs: &Programs,
    server: PostgresServer,
    random: &mut Random,
    rounds: &mut Rounds,
    number: usize,
) -> Result<PostgresServer> {
    let mut backup = Backup::start(programs, &server)?;
    let [before_seal, before_target, after_target] =
        [LOAD_BEFORE_SEAL, LOAD_BEFORE_TARGET, LOAD_AFTER_TARGET].map(|bound| random.duration_below(bound));
    let loaded = subject.target();
    let load = Load::new(&loaded, number, MODERATE_INTERVAL);
    let ((head, target), log) = load.run_during(|| {
        std::thread::sleep(before_seal);
        let head = string_field(&subject.service.run_cli(&["seal"])?, "head")?;
        std::thread::sleep(before_target);
        let target = TargetTime::read(|| server.run_sql("postgres", "SELECT clock_timestamp()"))?;
        std::thread::sleep(REPLICATION_DELAY_MAX + after_target);
        subject.service.kill()?;
        server.kill()?;
        backup.receiver.kill()?;
        Ok((head, target))
    })?;
    subject.check_log()?;
    drop(server);
    let restore_start = Instant::now();
    let server = backup.recover_to(programs, &target)?;
    let installation = subject.service.installation();
    installation.run_json(&["verify", "--head", &head]).context("the recovered database")?;
    subject.restart()?;
    rounds.add_restore_time(restore_start.elapsed());
    let expected = ExpectedState { complete_until: target.before, nothing_after: target.after };
    rounds.add_round(subject, ledger, log, expected, target.before)?;
    Ok(server)
}

impl Backup {
    /// Starts to archive the write-ahead log, and takes a base backup.
    fn start(programs: &Programs, server: &PostgresServer) -> Result<Self> {
        let ((archive, _), (received, _)) = (new_folder()?, new_folder()?);
        let folder = archive.path().display();
        let command = format!("test ! -f {folder}/%f && cp %p {folder}/%f");
        server.run_sql("postgres", &format!("ALTER SYSTEM SET archive_command = '{command}'"))?;
        server.run_sql("postgres", "SELECT pg_reload_conf()")?;
        let receiver = server.receive_log(programs, SLOT, received.path())?;
        let base = ServerFolder::new(server.port())?;
        base.copy_cluster(programs, server, &[])?;
        Ok(Self { base, archive, received, receiver })
    }

    /// Recovers the base backup to a time, and starts it as a server.
    fn recover_to(self, programs: &Programs, target: &TargetTime) -> Result<PostgresServer> {
        let (archive, received) = (self.archive.path().display(), self.received.path().display());
        self.base.append_settings(&format!(
            "restore_command = 'cp {received}/%f %p || cp {received}/%f.partial %p || cp {archive}/%f %p'\n\
             recovery_target_time = '{}'\n\
             recovery_target_action = promote\n\
             archive_command = ''\n",
            target.text
        ))?;
        self.base.request_recovery()?;
        let server = self.base.start(programs)?;
        let start = Instant::now();
        while server.run_sql("postgres", "SELECT pg_is_in_recovery()")?.trim() != "f" {
            ensure!(start.elapsed() < READY_TIMEOUT, "the server was not promoted");
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(server)
    }
}
