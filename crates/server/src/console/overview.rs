//! The overview page.

use std::sync::atomic::Ordering;

use data_encoding::HEXLOWER;
use guerdon_console::model::{
    Activity, Api, Certificate, Deliveries, Ledger, Mails, Named, Overview, Performance, Seal, Series,
    Service, Step, Troubles, Verification,
};
use guerdon_domain::ports::{ProviderHour, ServiceHour, Setting, StoreError, Timestamp};
use guerdon_domain::providers::Provider;

use super::providers::performance;
use super::{Look, MOST, count, counted, hour_begins, when};

const HOURS: u16 = 24;
const DAYS: u16 = 30;
/// How many hours of attempts decide whether a receiver is failing.
const RECENT_HOURS: i32 = 2;

pub(super) fn overview(mut look: Look<'_>) -> Result<Overview, StoreError> {
    let hours = look.reads.service_hours(look.hours_back(i32::from(DAYS) * 24))?;
    let depth = look.reads.outbox_depth()?;
    let undelivered = look.reads.undelivered(None, MOST)?;
    let day = look.reads.provider_hours(None, look.hours_back(i32::from(HOURS)))?;
    let seal = look.reads.last_seal()?;
    Ok(Overview {
        activity: activity(&look, &hours),
        api: api(&look, &hours),
        deliveries: Deliveries {
            pending: counted(undelivered.pending),
            delivered: count(day.iter().map(|hour| hour.delivered).sum()),
            exhausted: counted(undelivered.exhausted),
            unaddressed: counted(undelivered.unaddressed),
            oldest_pending_at: depth.oldest.map(when),
        },
        mails: Mails {
            waiting: counted(depth.mails_waiting),
            sent: counted(look.reads.sent_mails(MOST)?),
            given_up: counted(depth.mails_given_up),
        },
        ledger: Ledger {
            last_seal: seal.map(|seal| Seal {
                sequence: count(seal.sequence),
                created_at: when(seal.created_at),
                head: HEXLOWER.encode(&seal.head),
            }),
            last_verification: verification(&mut look)?,
            unbalanced_companies: count(look.service.unbalanced.load(Ordering::Relaxed)),
        },
        troubles: troubles(&mut look, &day)?,
        service: service(&mut look)?,
    })
}

fn activity(look: &Look<'_>, hours: &[ServiceHour]) -> Activity {
    let sums = |step, number, of: fn(&ServiceHour) -> i64| {
        Series::sums(step, look.time(), number, hours.iter().map(|hour| (hour_begins(hour.hour), of(hour))))
    };
    Activity {
        recognitions_by_hour: sums(Step::Hour, HOURS, |hour| hour.recognitions),
        points_by_hour: sums(Step::Hour, HOURS, |hour| hour.points),
        recognitions_by_day: sums(Step::Day, DAYS, |hour| hour.recognitions),
        points_by_day: sums(Step::Day, DAYS, |hour| hour.points),
    }
}

fn api(look: &Look<'_>, hours: &[ServiceHour]) -> Option<Api> {
    if hours.iter().all(|hour| hour.requests == 0) {
        return None;
    }
    let sums = |of: fn(&ServiceHour) -> i64| {
        let found = hours.iter().map(|hour| (hour_begins(hour.hour), of(hour)));
        Series::sums(Step::Hour, look.time(), HOURS, found)
    };
    let means = hours
        .iter()
        .filter_map(|hour| hour.micros.checked_div(hour.requests).map(|mean| (hour_begins(hour.hour), mean)));
    Some(Api {
        counted: "Requests to all processes of this service, updated every ten seconds.".to_owned(),
        requests: sums(|hour| hour.requests),
        client_errors: sums(|hour| hour.client_errors),
        server_errors: sums(|hour| hour.server_errors),
        latency: Series::means(Step::Hour, look.time(), HOURS, means),
    })
}

/// When `guerdon verify` last finished, and its result.
fn verification(look: &mut Look<'_>) -> Result<Option<Verification>, StoreError> {
    let noted = look.reads.setting(Setting::LastVerification)?;
    let parts = noted.as_deref().and_then(|text| text.split_once(' '));
    Ok(parts.and_then(|(at, found)| {
        let ended_at = Timestamp::from_unix_micros(at.parse().ok()?).map(when)?;
        Some(Verification { ended_at, violations: found.parse().ok()? })
    }))
}

fn troubles(look: &mut Look<'_>, attempts: &[ProviderHour]) -> Result<Troubles, StoreError> {
    let number = |count: usize| u64::try_from(count).unwrap_or(0);
    let schedules = look.reads.active_schedules()?;
    let providers = look.reads.providers()?;
    Ok(Troubles {
        low_reserves: count(look.reads.low_reserves()?),
        failing_schedules: number(schedules.iter().filter(|schedule| schedule.0.failing.is_some()).count()),
        suspended_providers: number(providers.iter().filter(|provider| provider.suspended).count()),
        failing_receivers: failing_receivers(look, &providers, attempts)?,
    })
}

/// Returns the providers whose receivers are failing, judged by the attempts of this hour and the previous one.
/// `attempts` covers all providers: if none failed recently, no provider is queried.
fn failing_receivers(
    look: &mut Look<'_>,
    providers: &[Provider],
    attempts: &[ProviderHour],
) -> Result<Vec<(Named, Performance)>, StoreError> {
    let from = look.hours_back(RECENT_HOURS);
    if attempts.iter().all(|hour| hour.hour < from || hour.failed == 0) {
        return Ok(Vec::new());
    }
    let mut failing = Vec::new();
    for provider in providers {
        let recent = performance(&look.reads.provider_hours(Some(provider.id), from)?, from);
        if recent.is_failing() {
            failing.push((Named { id: provider.id.to_string(), name: provider.name.clone() }, recent));
        }
    }
    failing.sort_by(|(a, _), (b, _)| a.name.cmp(&b.name));
    Ok(failing)
}

fn service(look: &mut Look<'_>) -> Result<Service, StoreError> {
    let service = look.service;
    let up = time::Duration::try_from(service.started.elapsed()).unwrap_or_default();
    Ok(Service {
        commit: crate::platform::build_info::COMMIT.to_owned(),
        started_at: look.time() - up,
        database: service.database.clone(),
        database_bytes: Some(count(look.reads.database_bytes()?)),
        certificate: service
            .certificate_ends()
            .map(|end| Certificate { last_day: end.date(), is_self_signed: service.is_self_signed }),
    })
}
