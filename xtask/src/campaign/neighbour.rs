//! One provider reads large pages as fast as it can; another must not be slowed down.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::json;

use super::context::AttackContext;
use super::report::Measurement;
use super::victim::{Victim, to_f64};
use crate::measurement::fixture::{Company, Provider};
use crate::measurement::service::{Database, RunningService};

const CONNECTIONS: usize = 64;
const MESSAGES: usize = 100;
const MESSAGE_LENGTH: usize = 10_000;

pub(super) fn run(context: &AttackContext<'_>) -> Result<Vec<Measurement>> {
    let (service, period) = (context.service, context.period(2));
    let (noisy, path) = create_noisy_provider(service, "noisy")?;
    let request = noisy.get_request(&path);
    let victim = Victim::create(service)?;
    let before = victim.measure_for(period)?;
    let (ended, pages, bytes) = (AtomicBool::new(false), AtomicUsize::new(0), AtomicUsize::new(0));
    let during = std::thread::scope(|scope| {
        for _ in 0..CONNECTIONS {
            scope.spawn(|| {
                let Ok(mut connection) = service.https().connect() else { return };
                while !ended.load(Ordering::Relaxed) {
                    let Ok(response) = connection.send_request(&request) else { return };
                    if response.status == 200 {
                        pages.fetch_add(1, Ordering::Relaxed);
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
    let bound = p99_max(context.setup.database);
    let rate = to_f64(pages.into_inner()) / period.as_secs_f64();
    Ok(vec![
        Measurement::without_bound(
            "pages of the noisy provider",
            format!("{rate:.0}/s of {} KB", bytes.into_inner() / 1_000),
        ),
        Measurement::without_bound("the other provider's p99 before", format!("{:.1?}", before.times.p99)),
        Measurement::duration_below("  under load", during.times.p99, bound),
        Measurement::at_most("  refused", to_f64(during.refused), 0.0, ""),
    ])
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
