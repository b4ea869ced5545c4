//! Sends many more requests than can be served, from clients that do not wait for each other.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use super::victim::{Fared, Victim, count};
use super::{Finding, Siege, stand_back};
use crate::harness::https::{Connection, closed_loop};
use crate::harness::times::{Times, per_second};

/// The request rate as a multiple of the peak.
const TIMES: f64 = 5.0;
/// The number of connections of the closed loop that measures the peak.
const AT_PEAK: usize = 64;
/// The number of clients: as many as may queue, and twice as many, of which every other one is refused immediately.
const CROWDS: [usize; 2] = [1_000, 2_000];
/// Connections per address, below the limit of 256.
const OF_AN_ADDRESS: usize = 250;
const STACK: usize = 256 << 10;
/// The minimum share of the peak that must still be served.
const GOODPUT: f64 = 0.85;
const BACK_WITHIN: Duration = Duration::from_secs(5);

/// The durations of requests by status.
type Answers = BTreeMap<u16, Vec<Duration>>;

pub(super) fn run(siege: &Siege<'_>) -> Result<Vec<Finding>> {
    let victim = Victim::settle(siege.service)?;
    let other = Victim::settle_as(siege.service, "other")?;
    let request = |at: usize, number: usize| {
        victim.provider().post("/v1/recognitions", &victim.company().thanks_by_lot(at, number, 1))
    };
    let peak = closed_loop(siege.service.https(), AT_PEAK, siege.period, 201, &request)?;
    ensure!(peak.refused == 0, "{} were refused at the peak", peak.refused);
    let peak = per_second(peak.times.len(), peak.took);
    let before = other.go_on_for(siege.period)?;
    let greeting = victim.provider().get(&format!("/v1/users/{}", victim.company().user(0)));
    let mut findings = vec![Finding::told("peak", format!("{peak:.0}/s"))];
    for crowd in CROWDS {
        let connections = dial(siege, crowd, &greeting)?;
        let (answers, offered) = flood(siege, connections, peak * TIMES, &request)?;
        let back = back_to_normal(&other, &before)?;
        findings.extend(judge(crowd, peak, offered, answers, siege.period));
        findings.push(Finding::within("back to normal", back, BACK_WITHIN));
    }
    Ok(findings)
}

/// Returns the time until another client is served as before.
fn back_to_normal(other: &Victim<'_>, before: &Fared) -> Result<Duration> {
    let ended = Instant::now();
    while ended.elapsed() < BACK_WITHIN * 2 {
        let fared = other.go_on_for(Duration::from_secs(1))?;
        if fared.refused == 0 && fared.times.median <= before.times.median * 2 {
            break;
        }
    }
    Ok(ended.elapsed())
}

fn judge(crowd: usize, peak: f64, offered: f64, answers: Answers, period: Duration) -> Vec<Finding> {
    let told: Vec<String> = answers.iter().map(|(status, all)| format!("{} x {status}", all.len())).collect();
    let goodput = per_second(answers.get(&201).map_or(0, Vec::len), period) / peak;
    let refused: Vec<Duration> =
        answers.into_iter().filter(|(status, _)| *status != 201).flat_map(|(_, times)| times).collect();
    let mut findings = vec![
        Finding::told(format!("{crowd} connections"), told.join(", ")),
        Finding::told("  sent", format!("{:.1} x the peak", offered / peak)),
    ];
    let [waiting, _] = CROWDS;
    findings.push(if crowd == waiting {
        let figure = format!("{:.0} %", goodput * 100.0);
        let bound = format!(">= {:.0} %", GOODPUT * 100.0);
        Finding { what: "  goodput".to_owned(), figure, bound, holds: goodput >= GOODPUT }
    } else {
        Finding::told("  goodput", format!("{:.0} %", goodput * 100.0)) // limited by the cost of refusals
    });
    if let Some(times) = Times::of(refused) {
        findings.push(Finding::within("  median of a refusal", times.median, Duration::from_millis(20)));
    }
    findings
}

/// Opens the connections and sends an authenticated request on each, so that none is closed while idle.
fn dial(siege: &Siege<'_>, crowd: usize, greeting: &[u8]) -> Result<Vec<Connection>> {
    let mut open = Vec::new();
    for number in 0..crowd {
        let last = u8::try_from(number / OF_AN_ADDRESS + 1).unwrap_or(u8::MAX);
        let mut connection = siege.service.https().connect_from(Ipv4Addr::new(127, 0, 5, last))?;
        connection.expect(200, greeting)?;
        open.push(connection);
    }
    Ok(open)
}

/// Sends at a fixed rate for the period, whatever the responses. Returns the responses and the actual rate.
fn flood(
    siege: &Siege<'_>,
    open: Vec<Connection>,
    a_second: f64,
    request: &(dyn Fn(usize, usize) -> Vec<u8> + Sync),
) -> Result<(Answers, f64)> {
    let (answers, next) = (Mutex::new(Answers::new()), AtomicUsize::new(0));
    let began = Instant::now();
    std::thread::scope(|scope| -> Result<()> {
        for (hand, mut connection) in open.into_iter().enumerate() {
            let (answers, next) = (&answers, &next);
            let one = move || {
                stand_back();
                let mut own = Answers::new();
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let due = Duration::from_secs_f64(count(number) / a_second);
                    if due >= siege.period || began.elapsed() >= siege.period {
                        break;
                    }
                    std::thread::sleep(due.saturating_sub(began.elapsed()));
                    let bytes = request(hand + 1_000, number);
                    let sent = Instant::now();
                    let Ok(answer) = connection.call(&bytes) else { break };
                    own.entry(answer.status).or_default().push(sent.elapsed());
                }
                let mut all = answers.lock().unwrap_or_else(PoisonError::into_inner);
                for (status, times) in own {
                    all.entry(status).or_default().extend(times);
                }
            };
            std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, one).context("a thread")?;
        }
        Ok(())
    })?;
    let answers = answers.into_inner().unwrap_or_else(PoisonError::into_inner);
    let sent = answers.values().map(Vec::len).sum();
    Ok((answers, per_second(sent, siege.period)))
}
