//! Kills a primary under load, promotes its synchronous standby, and checks that nothing acknowledged was lost.
//!
//! Two instances of the service use one connection URL for both servers and keep running. After a promotion, the dead
//! primary returns as a standby with a fresh copy, and the next round kills the other server. In every other round,
//! the servers are disconnected from each other shortly before the kill: on one machine the primary's writes reach
//! the standby even if the primary did not wait for them, which would hide a loss.

mod found;
mod load;
mod pair;

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use self::found::{Found, Over};
use self::load::{Journal, Load, Site};
use self::pair::Pair;
use super::Finding;
use super::victim::count;
use crate::harness::fixture::{Company, Provider};
use crate::harness::receiver::{Manner, Receiver};
use crate::harness::service::Service;
use crate::workspace::Workspace;

const DATABASE: &str = "failover";
const USERS: usize = 200;
const POINTS: &str = "1000000";
/// The load before the primary is killed; the first second does not count.
const BEFORE: Duration = Duration::from_secs(6);
const WARM_UP: Duration = Duration::from_secs(1);
/// From the disconnection of the servers to the kill.
const PARTED: Duration = Duration::from_millis(500);
/// The load after the full rate is reached again.
const AFTERWARDS: Duration = Duration::from_secs(3);
/// The share of the previous rate that counts as full.
const FULL: f64 = 0.9;
const FULL_WITHIN: Duration = Duration::from_secs(10);
/// The timeout of a round.
const PATIENCE: Duration = Duration::from_secs(40);

/// The result of a round.
struct Round {
    before: f64,
    after: f64,
    /// Times since the kill: of the promotion, of the first acknowledged request, and of the end of the first second
    /// at the full rate.
    promoted: Duration,
    first: Option<Duration>,
    full: Option<Duration>,
    journal: Journal,
    found: Found,
}

pub(super) fn run(workspace: &Workspace, program: &Path, rounds: usize) -> Result<Vec<Finding>> {
    let mut pair = Pair::start(workspace)?;
    let url = pair.create_database(DATABASE)?;
    let receiver = Receiver::start(Manner::Confirms)?;
    let folders = [folder()?, folder()?];
    let serve = |folder: &tempfile::TempDir| {
        Service::start_with(program, folder.path(), Some((url.clone(), pair.id())), &[])
    };
    let services = folders.iter().map(serve).collect::<Result<Vec<_>>>()?;
    let service = services.first().context("no service")?;
    let provider = Provider::create(service, Some(&receiver.url()))?;
    let company = Company::create(service, &provider, "failover", USERS)?;
    service.operate(&["distribution", "run", &company.id, "--wallet", "peer_wallet", "--points", POINTS])?;
    let site = Site { services: &services, provider: &provider, company: &company };
    println!("{HEAD}");
    let mut all = Vec::new();
    for number in 1..=rounds {
        let round = one(&site, &mut pair, &receiver, number).with_context(|| format!("round {number}"))?;
        println!("{}", line(number, &round));
        all.push(round);
    }
    for service in &services {
        service.health().context("an instance does not live any more")?;
        let log = service.log()?;
        ensure!(!log.contains("panicked"), "the service panicked:\n{log}");
    }
    Ok(judge(&all))
}

fn folder() -> Result<tempfile::TempDir> {
    Ok(tempfile::Builder::new().prefix("guerdon-siege-").tempdir()?)
}

fn one(site: &Site<'_>, pair: &mut Pair, receiver: &Receiver, number: usize) -> Result<Round> {
    let load = Load::new(site, number);
    let ((before, killed, promoted, dead, full), mut journal) = load.run(|| {
        std::thread::sleep(BEFORE);
        let before = load.rate(WARM_UP, load.began.elapsed());
        if is_parted(number) {
            pair.part()?;
            std::thread::sleep(PARTED);
        }
        let (killed, promoted, dead) = pair.fail_over()?;
        let at = killed - load.began;
        let full = loop {
            let full = load.full_after(at, before * FULL);
            if full.is_some() || killed.elapsed() > PATIENCE {
                break full;
            }
            std::thread::sleep(Duration::from_millis(100));
        };
        std::thread::sleep(AFTERWARDS);
        Ok((before, killed, promoted, dead, full.map(|full| full.saturating_sub(at))))
    })?;
    let end = load.began.elapsed();
    let after = load.rate(end.saturating_sub(AFTERWARDS), end.saturating_sub(Duration::from_millis(100)));
    let first = journal.sent.iter().filter(|sent| sent.answer.is_some() && sent.at > promoted);
    let first = first.map(|sent| sent.at - killed).min();
    let over = Over { site, pair, database: DATABASE, round: number, killed };
    let found = over.look(receiver, &mut journal)?;
    site.services.first().context("no service")?.operate(&["verify"]).context("afterwards")?;
    pair.add_standby(dead)?;
    Ok(Round { before, after, promoted: promoted - killed, first, full, journal, found })
}

fn is_parted(round: usize) -> bool {
    round.is_multiple_of(2)
}

const HEAD: &str = "round  parted  before/s  after/s  promoted  first 201  full rate  longest  acknowledged  lost  doubled  503  \
     of these done  cut off  other  unknown  repeated  changed  events lost  twice";

fn line(number: usize, it: &Round) -> String {
    let seconds =
        |time: Option<Duration>| time.map_or("-".to_owned(), |time| format!("{:.2} s", time.as_secs_f64()));
    let (found, journal) = (&it.found, &it.journal);
    format!(
        "{number:5}  {:6}  {:8.0}  {:7.0}  {:>8}  {:>9}  {:>9}  {:>7}  {:12}  {:4}  {:7}  {:3}  {:13}  {:7}  {:5}  {:7}  {:8}  \
         {:7}  {:11}  {:5}",
        if is_parted(number) { "yes" } else { "" },
        it.before,
        it.after,
        seconds(Some(it.promoted)),
        seconds(it.first),
        seconds(it.full),
        seconds(Some(journal.longest)),
        found.acknowledged,
        found.lost,
        found.doubled,
        journal.put_off,
        journal.done_unseen,
        journal.cut_off,
        journal.others.len(),
        found.unknown,
        found.repeated,
        found.changed,
        found.events_lost,
        found.events_twice,
    )
}

fn judge(all: &[Round]) -> Vec<Finding> {
    let sum = |of: &dyn Fn(&Round) -> usize| count(all.iter().map(of).sum());
    let slowest = all.iter().map(|round| round.full.unwrap_or(Duration::MAX)).max().unwrap_or(Duration::MAX);
    let other = all.iter().flat_map(|round| &round.journal.others).next();
    let mut findings = vec![
        Finding::told("failovers", all.len().to_string()),
        Finding::told("acknowledged", sum(&|round| round.found.acknowledged).to_string()),
        Finding::at_most("  of these lost", sum(&|round| round.found.lost), 0.0, ""),
        Finding::at_most("  doubled", sum(&|round| round.found.doubled), 0.0, ""),
        Finding::at_most("  answered otherwise when repeated", sum(&|round| round.found.changed), 0.0, ""),
        Finding::at_most("their events lost", sum(&|round| round.found.events_lost), 0.0, ""),
        Finding::at_most(
            "answers that are neither 201 nor 503",
            sum(&|round| round.journal.others.len()),
            0.0,
            "",
        ),
        Finding::at_most(
            "connections that the service cut off",
            sum(&|round| round.journal.cut_off),
            0.0,
            "",
        ),
        Finding::within("full rate again, at the slowest", slowest, FULL_WITHIN),
    ];
    findings.extend(other.map(|answer| Finding::told("the first other answer", answer.clone())));
    findings
}
