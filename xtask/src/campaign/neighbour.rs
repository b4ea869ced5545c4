//! One provider reads large pages, and then replays events, as fast as it can; another must not be slowed down.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::json;

use super::context::AttackContext;
use super::report::Measurement;
use super::victim::{Victim, VictimMeasurements};
use crate::measurement::fixture::{Company, Provider};
use crate::measurement::percentiles::to_f64;
use crate::measurement::service::{Database, RunningService};

const CONNECTIONS: usize = 64;
const MESSAGES: usize = 100;
const MESSAGE_LENGTH: usize = 10_000;
/// The replayed events: as many as one transaction of a replay takes.
const REPLAYED_EVENTS: usize = 2_000;
const RECEIVERS: usize = 200;

pub(super) fn run(context: &AttackContext<'_>) -> Result<Vec<Measurement>> {
    let (service, period) = (context.service, context.period(3));
    let (noisy, path) = create_noisy_provider(service, "noisy")?;
    let replay = create_replay(service, &noisy)?;
    let victim = Victim::create(service)?;
    let before = victim.measure_for(period)?;
    let (beside_pages, pages, bytes) = measure_beside(&victim, service, &noisy.get_request(&path), period)?;
    let (beside_replays, replays, _) = measure_beside(&victim, service, &replay, period)?;
    let bound = p99_max(context.setup.database);
    let rate = |count| to_f64(count) / period.as_secs_f64();
    Ok(vec![
        Measurement::without_bound("the other provider's p99 before", format!("{:.1?}", before.times.p99)),
        Measurement::without_bound(
            "pages of the noisy provider",
            format!("{:.0}/s of {} KB", rate(pages), bytes / 1_000),
        ),
        Measurement::duration_below("  the other provider's p99", beside_pages.times.p99, bound),
        Measurement::at_most("  refused", to_f64(beside_pages.refused), 0.0, ""),
        Measurement::without_bound("replays of the noisy provider", format!("{:.0}/s", rate(replays))),
        Measurement::duration_below("  the other provider's p99", beside_replays.times.p99, bound),
        Measurement::at_most("  refused", to_f64(beside_replays.refused), 0.0, ""),
    ])
}

/// Measures the other client while many connections send the same request. Returns also how many of these requests
/// succeeded, and the size of the largest response.
fn measure_beside(
    victim: &Victim<'_>,
    service: &RunningService,
    request: &[u8],
    period: Duration,
) -> Result<(VictimMeasurements, usize, usize)> {
    let (ended, succeeded, bytes) = (AtomicBool::new(false), AtomicUsize::new(0), AtomicUsize::new(0));
    let during = std::thread::scope(|scope| {
        for _ in 0..CONNECTIONS {
            scope.spawn(|| {
                let Ok(mut connection) = service.https().connect() else { return };
                while !ended.load(Ordering::Relaxed) {
                    let Ok(response) = connection.send_request(request) else { return };
                    if response.status == 200 {
                        succeeded.fetch_add(1, Ordering::Relaxed);
                        bytes.fetch_max(response.body.len(), Ordering::Relaxed);
                    }
                }
            });
        }
        std::thread::sleep(Duration::from_secs(1));
        let measured = victim.measure_for(period);
        ended.store(true, Ordering::Relaxed);
        measured
    })?;
    Ok((during, succeeded.into_inner(), bytes.into_inner()))
}

/// Creates events of a provider. Returns a request that replays them.
fn create_replay(service: &RunningService, provider: &Provider) -> Result<Vec<u8>> {
    let company = Company::create(service, provider, "replaying", RECEIVERS)?;
    let recognition = json!({
        "occasion_id": company.occasion, "sender_type": "company", "sender_id": company.id,
        "receiver_ids": company.users.join(","), "points_per_receiver": 1,
    });
    let mut connection = service.https().connect()?;
    for _ in 0..REPLAYED_EVENTS / RECEIVERS {
        connection.expect_status(201, &provider.post_request("/v1/recognitions", &recognition))?;
    }
    Ok(provider.post_request("/v1/events/replay", &json!({"since": "2020-01-01T00:00:00Z"})))
}

/// Returns the longest allowed p99 of another client while the service's only processor is saturated.
pub(super) fn p99_max(database: Database) -> Duration {
    match database {
        Database::Sqlite => Duration::from_millis(50),
        Database::Postgres => Duration::from_millis(100),
    }
}

/// Creates a provider, and returns it with the path of the largest page that it can request.
pub(super) fn create_noisy_provider(service: &RunningService, name: &str) -> Result<(Provider, String)> {
    let provider = Provider::create(service, None)?;
    let company = Company::create(service, &provider, name, 1)?;
    let user = company.users.first().context("no user")?;
    let message = "loud and clear ".repeat(MESSAGE_LENGTH / 15);
    let recognition = json!({
        "occasion_id": company.occasion, "sender_type": "company", "sender_id": company.id,
        "receiver_ids": user, "points_per_receiver": 1, "message": message,
    });
    let mut connection = service.https().connect()?;
    for _ in 0..MESSAGES {
        connection.expect_status(201, &provider.post_request("/v1/recognitions", &recognition))?;
    }
    let path = format!("/v1/users/{user}/recognitions_received?per_page={MESSAGES}");
    Ok((provider, path))
}
