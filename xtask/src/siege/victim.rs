//! A well-behaved client of the service during an attack.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};

use super::{Finding, Siege};
use crate::harness::fixture::{Company, Provider};
use crate::harness::https::Connection;
use crate::harness::service::Service;
use crate::harness::times::Times;

const CONNECTIONS: usize = 4;
const USERS: usize = 100;
/// The interval between two requests on one connection.
const PACE: Duration = Duration::from_millis(10);
/// The points that every user may send.
const POINTS: &str = "500000";
/// A median or p99 below this always passes: threads wait this long for a processor on a busy machine.
const UNFELT: Duration = Duration::from_millis(5);

/// A provider with a company, which reads and writes at a moderate rate.
pub(super) struct Victim<'a> {
    service: &'a Service,
    provider: Provider,
    company: Company,
}

/// The measurements of the client.
pub(super) struct Fared {
    pub(super) times: Times,
    /// Responses with an unexpected status.
    pub(super) refused: usize,
    slowest_health: Duration,
}

impl<'a> Victim<'a> {
    pub(super) fn settle(service: &'a Service) -> Result<Self> {
        Self::settle_as(service, "victim")
    }

    pub(super) fn settle_as(service: &'a Service, name: &str) -> Result<Self> {
        let provider = Provider::create(service, None)?;
        let company = Company::create(service, &provider, name, USERS)?;
        let arguments = ["distribution", "run", &company.id, "--wallet", "peer_wallet", "--points", POINTS];
        service.operate(&arguments)?;
        Ok(Self { service, provider, company })
    }

    pub(super) fn provider(&self) -> &Provider {
        &self.provider
    }

    pub(super) fn company(&self) -> &Company {
        &self.company
    }

    /// Reads and writes for this period.
    pub(super) fn go_on_for(&self, period: Duration) -> Result<Fared> {
        let open: Vec<_> = (0..CONNECTIONS).map(|_| self.service.https().connect()).collect::<Result<_>>()?;
        let ended = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let hands: Vec<_> = (0..)
                .zip(open)
                .map(|(number, connection)| scope.spawn(move || self.one(number, connection, period)))
                .collect();
            let health = scope.spawn(|| -> Result<Duration> {
                let mut slowest = Duration::ZERO;
                while !ended.load(Ordering::Relaxed) {
                    slowest = slowest.max(self.service.health()?);
                    std::thread::sleep(Duration::from_millis(100));
                }
                Ok(slowest)
            });
            let (mut times, mut refused) = (Vec::new(), 0);
            for hand in hands {
                let Ok(done) = hand.join() else { bail!("a thread of the victim panicked") };
                let (its_times, its_refused) = done?;
                times.extend(its_times);
                refused += its_refused;
            }
            ended.store(true, Ordering::Relaxed);
            let Ok(slowest_health) = health.join() else { bail!("a thread that asks for health panicked") };
            let times = Times::of(times).context("no answer")?;
            Ok(Fared { times, refused, slowest_health: slowest_health? })
        })
    }

    fn one(
        &self,
        number: usize,
        mut connection: Connection,
        period: Duration,
    ) -> Result<(Vec<Duration>, usize)> {
        let (began, mut times, mut refused) = (Instant::now(), Vec::new(), 0);
        for count in 0_usize.. {
            if began.elapsed() >= period {
                break;
            }
            let (status, request) = self.request(number, count);
            let sent = Instant::now();
            let answer = connection.call(&request)?;
            times.push(sent.elapsed());
            refused += usize::from(answer.status != status);
            std::thread::sleep(PACE.saturating_sub(sent.elapsed()));
        }
        Ok((times, refused))
    }

    fn request(&self, number: usize, count: usize) -> (u16, Vec<u8>) {
        if count.is_multiple_of(2) {
            (200, self.provider.get(&format!("/v1/users/{}", self.company.user(count))))
        } else {
            (201, self.provider.post("/v1/recognitions", &self.company.thanks_by_lot(number, count, 1)))
        }
    }
}

impl Fared {
    /// Compares with the measurements before the attack: nothing refused, the p99 at most doubled, and a health check
    /// that responds within 100 ms.
    pub(super) fn beside(&self, before: &Self) -> Result<Vec<Finding>> {
        ensure!(before.refused == 0, "{} requests were refused before any attack", before.refused);
        let bound = (before.times.p99 * 2).max(UNFELT);
        Ok(vec![
            Finding::told("another client's median before", format!("{:.1?}", before.times.median)),
            Finding::told("  and meanwhile", format!("{:.1?}", self.times.median)),
            Finding::told("another client's p99 before", format!("{:.1?}", before.times.p99)),
            Finding::within("  and meanwhile", self.times.p99, bound),
            Finding::at_most("  refused", count(self.refused), 0.0, ""),
            Finding::within("slowest /healthz", self.slowest_health, Duration::from_millis(100)),
        ])
    }
}

/// Measures the client before and during an attack.
pub(super) fn compare(
    siege: &Siege<'_>,
    warm_up: Duration,
    attack: impl FnOnce(&AtomicBool) -> Result<Vec<Finding>> + Send,
) -> Result<Vec<Finding>> {
    let victim = Victim::settle(siege.service)?;
    victim.go_on_for(Duration::from_secs(2))?; // warm-up
    let before = victim.go_on_for(siege.period)?;
    let ended = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let attacker = scope.spawn(|| attack(&ended));
        std::thread::sleep(warm_up);
        let meanwhile = victim.go_on_for(siege.period);
        ended.store(true, Ordering::Relaxed);
        let Ok(told) = attacker.join() else { bail!("the attacker panicked") };
        let (mut findings, meanwhile) = (told?, meanwhile?);
        findings.extend(meanwhile.beside(&before)?);
        Ok(findings)
    })
}

pub(super) fn count(number: usize) -> f64 {
    f64::from(u32::try_from(number).unwrap_or(u32::MAX))
}
