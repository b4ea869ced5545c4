//! A well-behaved client of the service during an attack.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use guerdon_test_harness::HttpsConnection;

use super::context::AttackContext;
use super::report::Measurement;
use crate::measurement::fixture::{Company, Provider};
use crate::measurement::percentiles::{Percentiles, to_f64};
use crate::measurement::service::RunningService;

const CONNECTIONS: usize = 4;
const USERS: usize = 100;
/// The interval between two requests on one connection.
const REQUEST_INTERVAL: Duration = Duration::from_millis(10);
/// The points that every user may send.
const POINTS: &str = "500000";
/// A median or p99 below this always passes: threads wait this long for a processor on a busy machine.
const ACCEPTED_P99: Duration = Duration::from_millis(5);

/// A provider with a company, which reads and writes at a moderate rate.
pub(super) struct Victim<'a> {
    service: &'a RunningService,
    provider: Provider,
    company: Company,
}

/// The measurements of the client.
pub(super) struct VictimMeasurements {
    pub(super) times: Percentiles,
    /// Responses with an unexpected status.
    pub(super) refused: usize,
    slowest_health: Duration,
}

impl<'a> Victim<'a> {
    pub(super) fn create(service: &'a RunningService) -> Result<Self> {
        Self::create_named(service, "victim")
    }

    pub(super) fn create_named(service: &'a RunningService, name: &str) -> Result<Self> {
        let provider = Provider::create(service, None)?;
        let company = Company::create(service, &provider, name, USERS)?;
        let arguments = ["distribution", "run", &company.id, "--wallet", "peer_wallet", "--points", POINTS];
        service.run_cli(&arguments)?;
        Ok(Self { service, provider, company })
    }

    pub(super) fn provider(&self) -> &Provider {
        &self.provider
    }

    pub(super) fn company(&self) -> &Company {
        &self.company
    }

    /// Reads and writes for this period.
    pub(super) fn measure_for(&self, period: Duration) -> Result<VictimMeasurements> {
        let connections: Vec<_> =
            (0..CONNECTIONS).map(|_| self.service.https().connect()).collect::<Result<_>>()?;
        let ended = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..)
                .zip(connections)
                .map(|(number, connection)| {
                    scope.spawn(move || self.send_requests(number, connection, period))
                })
                .collect();
            let health = scope.spawn(|| -> Result<Duration> {
                let mut slowest = Duration::ZERO;
                while !ended.load(Ordering::Relaxed) {
                    slowest = slowest.max(self.service.check_health()?);
                    std::thread::sleep(Duration::from_millis(100));
                }
                Ok(slowest)
            });
            let (mut times, mut refused) = (Vec::new(), 0);
            for thread in threads {
                let Ok(result) = thread.join() else { bail!("a thread of the victim panicked") };
                let (thread_times, thread_refused) = result?;
                times.extend(thread_times);
                refused += thread_refused;
            }
            ended.store(true, Ordering::Relaxed);
            let Ok(slowest_health) = health.join() else { bail!("the health check thread panicked") };
            let times = Percentiles::from_durations(times).context("no response")?;
            Ok(VictimMeasurements { times, refused, slowest_health: slowest_health? })
        })
    }

    fn send_requests(
        &self,
        number: usize,
        mut connection: HttpsConnection,
        period: Duration,
    ) -> Result<(Vec<Duration>, usize)> {
        let (start, mut times, mut refused) = (Instant::now(), Vec::new(), 0);
        for count in 0_usize.. {
            if start.elapsed() >= period {
                break;
            }
            let (status, request) = self.nth_request(number, count);
            let sent = Instant::now();
            let response = connection.send_request(&request)?;
            times.push(sent.elapsed());
            refused += usize::from(response.status != status);
            std::thread::sleep(REQUEST_INTERVAL.saturating_sub(sent.elapsed()));
        }
        Ok((times, refused))
    }

    fn nth_request(&self, number: usize, count: usize) -> (u16, Vec<u8>) {
        if count.is_multiple_of(2) {
            (200, self.provider.get_request(&format!("/v1/users/{}", self.company.user_id(count))))
        } else {
            (
                201,
                self.provider
                    .post_request("/v1/recognitions", &self.company.random_recognition(number, count, 1)),
            )
        }
    }
}

impl VictimMeasurements {
    /// Compares with the measurements before the attack. No request may be refused, the p99 may at most double, and a
    /// health check must respond within 100 ms.
    pub(super) fn compare_with(&self, before: &Self) -> Result<Vec<Measurement>> {
        ensure!(before.refused == 0, "{} requests were refused before any attack", before.refused);
        let bound = (before.times.p99 * 2).max(ACCEPTED_P99);
        Ok(vec![
            Measurement::without_bound(
                "another client's median before",
                format!("{:.1?}", before.times.median),
            ),
            Measurement::without_bound("  under load", format!("{:.1?}", self.times.median)),
            Measurement::without_bound("another client's p99 before", format!("{:.1?}", before.times.p99)),
            Measurement::duration_below("  under load", self.times.p99, bound),
            Measurement::at_most("  refused", to_f64(self.refused), 0.0, ""),
            Measurement::duration_below("slowest /healthz", self.slowest_health, Duration::from_millis(100)),
        ])
    }
}

/// Measures the client before and during an attack.
pub(super) fn compare_during_attack(
    context: &AttackContext<'_>,
    warm_up: Duration,
    attack: impl FnOnce(&AtomicBool) -> Result<Vec<Measurement>> + Send,
) -> Result<Vec<Measurement>> {
    let (victim, period) = (Victim::create(context.service)?, context.period(2));
    victim.measure_for(Duration::from_secs(2))?; // warm-up
    let before = victim.measure_for(period)?;
    let ended = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let attacker = scope.spawn(|| attack(&ended));
        std::thread::sleep(warm_up);
        let during = victim.measure_for(period);
        ended.store(true, Ordering::Relaxed);
        let Ok(measurements) = attacker.join() else { bail!("the attacker panicked") };
        let (mut measurements, during) = (measurements?, during?);
        measurements.extend(during.compare_with(&before)?);
        Ok(measurements)
    })
}
