//! Tests backups of a ledger in use, and commands that are killed.
//!
//! Each round takes a backup under load and restores it. The copy must be valid and contain everything that was
//! sealed before. Then an import, a backup and a prune of the copy are killed with SIGKILL and run again: nothing may
//! be half done, and the second run must complete the work.

mod copy;

use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use self::copy::Copy;
use super::victim::count;
use super::{Finding, Siege};
use crate::harness::fixture::{Company, Provider};
use crate::harness::service::{Database, Ledger};
use crate::workspace::text;

const CLIENTS: usize = 8;
const USERS: usize = 200;
const POINTS: &str = "1000000";
/// The interval between two recognitions of a client.
const PACE: Duration = Duration::from_millis(10);
/// The rows of the import, and the rows per transaction (`commands/import.rs`).
const ROWS: u64 = 10_000;
const ROWS_AT_ONCE: u64 = 100;
/// Events that are old enough to be deleted.
const EVENTS: u32 = 30_000;
/// The longest response time while a backup is taken, and otherwise.
const LONGEST_ANSWER: Duration = Duration::from_millis(100);
/// The longest time for which a prune may hold the writer of the embedded database. On PostgreSQL a prune blocks only
/// transactions that need the deleted rows.
const LONGEST_STEP: Duration = Duration::from_millis(50);

const STEP: &str = "the longest step of a prune";

/// The results of all rounds.
#[derive(Default)]
struct Seen {
    backups: usize,
    /// The longest response time while a backup was taken, and otherwise.
    longest: Duration,
    longest_else: Duration,
    /// The longest step of a prune.
    longest_step: Duration,
    /// How many commands were running when they were killed.
    killed: usize,
    kills: usize,
}

/// Clients that send recognitions, and the responses they get.
#[derive(Default)]
struct Clients {
    ended: AtomicBool,
    sent: AtomicUsize,
    refused: AtomicUsize,
    /// In microseconds, since the last read.
    longest: AtomicU64,
}

pub(super) fn run(siege: &Siege<'_>) -> Result<Vec<Finding>> {
    let service = siege.service;
    let provider = Provider::create(service, None)?;
    let company = Company::create(service, &provider, "upkeep", USERS)?;
    service.operate(&["distribution", "run", &company.id, "--wallet", "peer_wallet", "--points", POINTS])?;
    let folder = tempfile::Builder::new().prefix("guerdon-siege-").tempdir()?;
    let mut lots = Lots(siege.seed);
    let mut seen = Seen::default();
    let clients = Clients::default();
    let (clients, provider, company) = (&clients, &provider, &company);
    std::thread::scope(|scope| {
        let hands: Vec<_> = (0..CLIENTS)
            .map(|hand| scope.spawn(move || clients.work(siege, provider, company, hand)))
            .collect();
        let rounds = (0..siege.rounds).try_for_each(|number| {
            let room = folder.path().join(number.to_string());
            std::fs::create_dir(&room)?;
            round(siege, company, clients, &room, &mut lots, &mut seen)
                .with_context(|| format!("round {}", number + 1))?;
            Ok(std::fs::remove_dir_all(&room)?)
        });
        clients.ended.store(true, Ordering::Relaxed);
        let outcomes = hands
            .into_iter()
            .map(|hand| hand.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        outcomes.collect::<Result<()>>().and(rounds)
    })?;
    let ms = |time: Duration| format!("{:.1} ms", time.as_secs_f64() * 1_000.0);
    Ok(vec![
        Finding::told("backups taken, restored and found whole", seen.backups.to_string()),
        Finding::told("recognitions sent meanwhile", clients.sent.load(Ordering::Relaxed).to_string()),
        Finding::at_most("  refused", count(clients.refused.load(Ordering::Relaxed)), 0.0, ""),
        Finding::told("  the longest answer without a backup", ms(seen.longest_else)),
        Finding::within("  and while one was taken", seen.longest, LONGEST_ANSWER),
        match siege.cluster {
            None => Finding::within(STEP, seen.longest_step, LONGEST_STEP),
            Some(_) => Finding::told(STEP, ms(seen.longest_step)),
        },
        Finding::told("commands that were killed at work", format!("{} of {}", seen.killed, seen.kills)),
    ])
}

/// Takes a backup, restores it, and kills commands on the copy.
fn round(
    siege: &Siege<'_>,
    company: &Company,
    clients: &Clients,
    room: &Path,
    lots: &mut Lots,
    seen: &mut Seen,
) -> Result<()> {
    std::thread::sleep(Duration::from_secs(2)); // load without a backup
    seen.longest_else = seen.longest_else.max(clients.longest());
    let copy = Copy::back_up(siege, room)?;
    seen.longest = seen.longest.max(clients.longest());
    let copy = copy.restore()?;
    let ledger = copy.ledger();
    ledger.operate(&["verify", "--head", copy.head()]).context("the copy")?;
    seen.backups += 1;
    import(ledger, &company.id, room, lots, seen).context("the import")?;
    if siege.database == Database::Sqlite {
        back_up_again(ledger, room, lots, seen).context("the backup of the copy")?;
    }
    prune(&copy, lots, seen).context("the prune")?;
    ledger.operate(&["verify"]).context("the copy, in the end")?;
    clients.longest(); // discards the effect of commands on the copy
    Ok(())
}

fn import(ledger: &Ledger, company: &str, room: &Path, lots: &mut Lots, seen: &mut Seen) -> Result<()> {
    let file = room.join("users.csv");
    let row = |number: u64| format!("E{number},imported-{number}@upkeep.example,Grace,Hopper {number}\n");
    let rows: String = (0..ROWS).map(row).collect();
    std::fs::write(&file, format!("employee_id,email,first_name,last_name\n{rows}"))?;
    let file = file.display().to_string();
    let arguments = ["import", "users", &file, "--company", company];
    killed(ledger, &arguments, lots, seen)?;
    let done = ledger.operate(&arguments)?;
    let number = |name: &str| done.get(name).and_then(serde_json::Value::as_u64).unwrap_or(u64::MAX);
    let (created, unchanged) = (number("created"), number("unchanged"));
    ensure!(created.checked_add(unchanged) == Some(ROWS), "not every row is there once: {done}");
    ensure!(unchanged.is_multiple_of(ROWS_AT_ONCE), "a batch was half done: {done}");
    Ok(())
}

fn back_up_again(ledger: &Ledger, room: &Path, lots: &mut Lots, seen: &mut Seen) -> Result<()> {
    let file = room.join("again.db");
    let name = file.display().to_string();
    killed(ledger, &["backup", &name], lots, seen)?;
    if file.exists() {
        restored(ledger, &name, &room.join("killed"))?.operate(&["verify"])?; // complete or absent
        std::fs::remove_file(&file)?;
    }
    let done = ledger.operate(&["backup", &name])?;
    restored(ledger, &name, &room.join("again"))?.operate(&["verify", "--head", &text(&done, "head")?])?;
    Ok(())
}

/// Restores a backup into this folder.
fn restored(ledger: &Ledger, file: &str, folder: &Path) -> Result<Ledger> {
    std::fs::create_dir(folder)?;
    let other = ledger.at(folder, None);
    other.operate(&["restore", file])?;
    Ok(other)
}

fn prune(copy: &Copy<'_>, lots: &mut Lots, seen: &mut Seen) -> Result<()> {
    copy.age(EVENTS)?;
    killed(copy.ledger(), &["prune"], lots, seen)?;
    let (events, deliveries, attempts) = copy.old()?;
    ensure!(
        events == deliveries && events == attempts,
        "{events} events, {deliveries} states, {attempts} attempts"
    );
    let done = copy.ledger().operate(&["prune"])?;
    let micros = done.get("longest_step_micros").and_then(serde_json::Value::as_u64);
    seen.longest_step = seen.longest_step.max(Duration::from_micros(micros.context("no longest step")?));
    ensure!(copy.old()? == (0, 0, 0), "old events stay");
    Ok(())
}

/// Runs a command and kills it after a while, unless it ends before.
fn killed(ledger: &Ledger, arguments: &[&str], lots: &mut Lots, seen: &mut Seen) -> Result<()> {
    let mut child = ledger.command(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    std::thread::sleep(Duration::from_millis(20 + lots.draw(600)));
    let _ended = child.kill();
    seen.kills += 1;
    seen.killed += usize::from(child.wait()?.signal().is_some());
    Ok(())
}

impl Clients {
    fn work(&self, siege: &Siege<'_>, provider: &Provider, company: &Company, hand: usize) -> Result<()> {
        let mut connection = siege.service.https().connect()?;
        for number in 0.. {
            if self.ended.load(Ordering::Relaxed) {
                break;
            }
            let request = provider.post("/v1/recognitions", &company.thanks_by_lot(hand, number, 1));
            let began = Instant::now();
            let answer = connection.call(&request)?;
            let took = u64::try_from(began.elapsed().as_micros())?;
            self.longest.fetch_max(took, Ordering::Relaxed);
            let counter = if answer.status == 201 { &self.sent } else { &self.refused };
            counter.fetch_add(1, Ordering::Relaxed);
            std::thread::sleep(PACE);
        }
        Ok(())
    }

    /// Returns the longest response time since the last call.
    fn longest(&self) -> Duration {
        Duration::from_micros(self.longest.swap(0, Ordering::Relaxed))
    }
}

/// A pseudo-random generator (SplitMix64).
struct Lots(u64);

impl Lots {
    fn draw(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        (mixed ^ (mixed >> 27)) % below
    }
}
