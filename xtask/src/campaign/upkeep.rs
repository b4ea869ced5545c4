//! Tests backups of a ledger in use, and commands that are killed.
//!
//! Each round takes a backup under load and restores it. The copy must be valid and contain everything that was
//! sealed before. Then an import, a backup and a prune of the copy are killed with SIGKILL and run again: nothing may
//! be half done, and the second run must complete the work.

mod restored_copy;

use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use guerdon_test_harness::Installation;
use guerdon_test_support::Random;

use self::restored_copy::RestoredCopy;
use super::context::{AttackContext, temporary_folder};
use super::report::{Measurement, Report};
use crate::measurement::fixture::{Company, Provider};
use crate::measurement::percentiles::to_f64;
use crate::measurement::service::Database;
use crate::workspace::string_field;

const CLIENTS: usize = 8;
const USERS: usize = 200;
const POINTS: &str = "1000000";
/// The interval between two recognitions of a client.
const REQUEST_INTERVAL: Duration = Duration::from_millis(10);
/// The number of rows in the import file.
const IMPORT_ROWS: u64 = 10_000;
/// Divides the number of rows per transaction on both databases: 100 and 500 (`commands/import/mod.rs`).
const ROWS_PER_TRANSACTION_DIVISOR: u64 = 100;
/// Events that are old enough to be deleted.
const OLD_EVENTS: u32 = 30_000;
/// The longest permitted response time while a backup is taken.
const RESPONSE_TIME_MAX: Duration = Duration::from_millis(100);
/// The longest time for which a prune may hold the writer of the embedded database. On PostgreSQL a prune blocks only
/// transactions that need the deleted rows.
const PRUNE_STEP_TIME_MAX: Duration = Duration::from_millis(50);

const PRUNE_STEP_LABEL: &str = "the longest step of a prune";

/// The results of all rounds.
#[derive(Default)]
struct RoundResults {
    backups: usize,
    /// The longest response times, with and without a backup in progress.
    longest_during_backup: Duration,
    longest_without_backup: Duration,
    /// The longest step of a prune.
    longest_step: Duration,
    /// How many commands were running when they were killed.
    killed_running: usize,
    kills: usize,
}

/// Clients that send recognitions, and the responses they get.
#[derive(Default)]
struct Clients {
    ended: AtomicBool,
    sent: AtomicUsize,
    refused: AtomicUsize,
    /// The longest response time in microseconds since the last read.
    longest: AtomicU64,
}

pub(super) fn run(context: &AttackContext<'_>) -> Result<Report> {
    let service = context.service;
    let provider = Provider::create(service, None)?;
    let company = Company::create(service, &provider, "upkeep", USERS)?;
    service.run_cli(&["distribution", "run", &company.id, "--wallet", "peer_wallet", "--points", POINTS])?;
    let folder = temporary_folder()?;
    let mut random = Random(context.setup.seed);
    let mut results = RoundResults::default();
    let clients = Clients::default();
    let (clients, provider, company) = (&clients, &provider, &company);
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..CLIENTS)
            .map(|thread| scope.spawn(move || clients.send_recognitions(context, provider, company, thread)))
            .collect();
        let start = Instant::now();
        let is_due = |number: &usize| *number == 0 || start.elapsed() < context.setup.duration;
        let rounds = (0..).take_while(is_due).try_for_each(|number| {
            let round_folder = folder.path().join(number.to_string());
            std::fs::create_dir(&round_folder)?;
            run_round(context, company, clients, &round_folder, &mut random, &mut results)
                .with_context(|| format!("round {}", number + 1))?;
            Ok(std::fs::remove_dir_all(&round_folder)?)
        });
        clients.ended.store(true, Ordering::Relaxed);
        let outcomes = threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        outcomes.collect::<Result<()>>().and(rounds)
    })?;
    let ms = |time: Duration| format!("{:.1} ms", time.as_secs_f64() * 1_000.0);
    let measurements = vec![
        Measurement::without_bound("backups taken, restored and verified", results.backups.to_string()),
        Measurement::without_bound(
            "recognitions sent meanwhile",
            clients.sent.load(Ordering::Relaxed).to_string(),
        ),
        Measurement::at_most("  refused", to_f64(clients.refused.load(Ordering::Relaxed)), 0.0, ""),
        Measurement::without_bound("  longest response without a backup", ms(results.longest_without_backup)),
        Measurement::duration_below(
            "  and during a backup",
            results.longest_during_backup,
            RESPONSE_TIME_MAX,
        ),
        match context.cluster {
            None => Measurement::duration_below(PRUNE_STEP_LABEL, results.longest_step, PRUNE_STEP_TIME_MAX),
            Some(_) => Measurement::without_bound(PRUNE_STEP_LABEL, ms(results.longest_step)),
        },
        Measurement::without_bound(
            "commands killed while running",
            format!("{} of {}", results.killed_running, results.kills),
        ),
    ];
    Ok(Report { measurements, faults: results.kills, ..Report::default() })
}

/// Takes a backup, restores it, and kills commands on the copy.
fn run_round(
    context: &AttackContext<'_>,
    company: &Company,
    clients: &Clients,
    folder: &Path,
    random: &mut Random,
    results: &mut RoundResults,
) -> Result<()> {
    std::thread::sleep(Duration::from_secs(2)); // load without a backup
    results.longest_without_backup = results.longest_without_backup.max(clients.take_longest_response());
    let copy = RestoredCopy::back_up(context, folder)?;
    results.longest_during_backup = results.longest_during_backup.max(clients.take_longest_response());
    let copy = copy.restore()?;
    let installation = copy.installation();
    installation.run_json(&["verify", "--head", copy.head()]).context("the copy")?;
    results.backups += 1;
    check_import(installation, &company.id, folder, random, results).context("the import")?;
    if context.setup.database == Database::Sqlite {
        check_backup(installation, folder, random, results).context("the backup of the copy")?;
    }
    check_prune(&copy, random, results).context("the prune")?;
    installation.run_json(&["verify"]).context("the copy, at the end")?;
    clients.take_longest_response(); // discards the effect of commands on the copy
    Ok(())
}

fn check_import(
    installation: &Installation,
    company: &str,
    folder: &Path,
    random: &mut Random,
    results: &mut RoundResults,
) -> Result<()> {
    let file = folder.join("users.csv");
    let row = |number: u64| format!("E{number},imported-{number}@upkeep.example,Grace,Hopper {number}\n");
    let rows: String = (0..IMPORT_ROWS).map(row).collect();
    std::fs::write(&file, format!("employee_id,email,first_name,last_name\n{rows}"))?;
    let file = file.display().to_string();
    let arguments = ["import", "users", &file, "--company", company];
    run_and_kill(installation, &arguments, random, results)?;
    let report = installation.run_json(&arguments)?;
    let number = |name: &str| report.get(name).and_then(serde_json::Value::as_u64).unwrap_or(u64::MAX);
    let (created, unchanged) = (number("created"), number("unchanged"));
    ensure!(created.checked_add(unchanged) == Some(IMPORT_ROWS), "not every row exists once: {report}");
    ensure!(
        unchanged.is_multiple_of(ROWS_PER_TRANSACTION_DIVISOR),
        "a transaction was partly applied: {report}"
    );
    Ok(())
}

fn check_backup(
    installation: &Installation,
    folder: &Path,
    random: &mut Random,
    results: &mut RoundResults,
) -> Result<()> {
    let file = folder.join("again.db");
    let name = file.display().to_string();
    run_and_kill(installation, &["backup", &name], random, results)?;
    if file.exists() {
        restore_backup(installation, &name, &folder.join("killed"))?.run_json(&["verify"])?; // complete or absent
        std::fs::remove_file(&file)?;
    }
    let report = installation.run_json(&["backup", &name])?;
    restore_backup(installation, &name, &folder.join("again"))?.run_json(&[
        "verify",
        "--head",
        &string_field(&report, "head")?,
    ])?;
    Ok(())
}

/// Restores a backup into this folder.
fn restore_backup(installation: &Installation, file: &str, folder: &Path) -> Result<Installation> {
    std::fs::create_dir(folder)?;
    let restored = installation.at_location(folder, None);
    restored.run_json(&["restore", file])?;
    Ok(restored)
}

fn check_prune(copy: &RestoredCopy<'_>, random: &mut Random, results: &mut RoundResults) -> Result<()> {
    copy.add_old_events(OLD_EVENTS)?;
    run_and_kill(copy.installation(), &["prune"], random, results)?;
    let (events, deliveries, attempts) = copy.count_old_events()?;
    ensure!(
        events == deliveries && events == attempts,
        "the killed prune left {events} old events, {deliveries} deliveries and {attempts} attempts; the numbers must \
         be equal"
    );
    let report = copy.installation().run_json(&["prune"])?;
    let micros = report.get("longest_step_micros").and_then(serde_json::Value::as_u64);
    results.longest_step =
        results.longest_step.max(Duration::from_micros(micros.context("no longest step")?));
    ensure!(copy.count_old_events()? == (0, 0, 0), "old events remain");
    Ok(())
}

/// Runs a command and kills it after a while, unless it ends before.
fn run_and_kill(
    installation: &Installation,
    arguments: &[&str],
    random: &mut Random,
    results: &mut RoundResults,
) -> Result<()> {
    let mut child = installation.command(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    std::thread::sleep(Duration::from_millis(20 + random.number_below(600)));
    let _ended = child.kill();
    results.kills += 1;
    results.killed_running += usize::from(child.wait()?.signal().is_some());
    Ok(())
}

impl Clients {
    fn send_recognitions(
        &self,
        context: &AttackContext<'_>,
        provider: &Provider,
        company: &Company,
        thread: usize,
    ) -> Result<()> {
        let mut connection = context.service.https().connect()?;
        for number in 0.. {
            if self.ended.load(Ordering::Relaxed) {
                break;
            }
            let request =
                provider.post_request("/v1/recognitions", &company.random_recognition(thread, number, 1));
            let start = Instant::now();
            let response = connection.send_request(&request)?;
            let micros = u64::try_from(start.elapsed().as_micros())?;
            self.longest.fetch_max(micros, Ordering::Relaxed);
            let counter = if response.status == 201 { &self.sent } else { &self.refused };
            counter.fetch_add(1, Ordering::Relaxed);
            std::thread::sleep(REQUEST_INTERVAL);
        }
        Ok(())
    }

    /// Returns the longest response time since the last call.
    fn take_longest_response(&self) -> Duration {
        Duration::from_micros(self.longest.swap(0, Ordering::Relaxed))
    }
}
