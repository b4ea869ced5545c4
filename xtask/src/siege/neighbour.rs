//! One provider reads large pages as fast as it can; another must not be slowed down.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::json;

use super::victim::{Victim, count};
use super::{Finding, Siege};
use crate::harness::fixture::{Company, Provider};
use crate::harness::service::{Database, Service};

const CONNECTIONS: usize = 64;
const MESSAGES: usize = 100;
const LETTERS: usize = 10_000;

pub(super) fn run(siege: &Siege<'_>) -> Result<Vec<Finding>> {
    let service = siege.service;
    let (loud, path) = loud(service, "loud")?;
    let request = loud.get(&path);
    let victim = Victim::settle(service)?;
    let before = victim.go_on_for(siege.period)?;
    let (ended, pages, bytes) = (AtomicBool::new(false), AtomicUsize::new(0), AtomicUsize::new(0));
    let meanwhile = std::thread::scope(|scope| {
        for _ in 0..CONNECTIONS {
            scope.spawn(|| {
                let Ok(mut connection) = service.https().connect() else { return };
                while !ended.load(Ordering::Relaxed) {
                    let Ok(answer) = connection.call(&request) else { return };
                    if answer.status == 200 {
                        pages.fetch_add(1, Ordering::Relaxed);
                        bytes.fetch_max(answer.body.len(), Ordering::Relaxed);
                    }
                }
            });
        }
        std::thread::sleep(Duration::from_secs(1));
        let meanwhile = victim.go_on_for(siege.period);
        ended.store(true, Ordering::Relaxed);
        meanwhile
    })?;
    let bound = p99_max(siege.database);
    let rate = count(pages.into_inner()) / siege.period.as_secs_f64();
    Ok(vec![
        Finding::told("pages of the loud one", format!("{rate:.0}/s of {} KB", bytes.into_inner() / 1_000)),
        Finding::told("the other's p99 before", format!("{:.1?}", before.times.p99)),
        Finding::within("  and meanwhile", meanwhile.times.p99, bound),
        Finding::at_most("  refused", count(meanwhile.refused), 0.0, ""),
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
pub(super) fn loud(service: &Service, name: &str) -> Result<(Provider, String)> {
    let provider = Provider::create(service, None)?;
    let company = Company::create(service, &provider, name, 1)?;
    let user = company.users.first().context("no user")?;
    let message = "loud and clear ".repeat(LETTERS / 15);
    let thanks = json!({
        "occasion_id": company.occasion, "sender_type": "company", "sender_id": company.id,
        "receiver_ids": user, "points_per_receiver": 1, "message": message,
    });
    let mut connection = service.https().connect()?;
    for _ in 0..MESSAGES {
        connection.expect(201, &provider.post("/v1/recognitions", &thanks))?;
    }
    let path = format!("/v1/users/{user}/recognitions_received?per_page={MESSAGES}");
    Ok((provider, path))
}
