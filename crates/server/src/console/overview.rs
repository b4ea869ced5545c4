//! The overview page.

use std::sync::atomic::Ordering;

use data_encoding::HEXLOWER;
use guerdon_console::model::{
    Activity, ApiStatistics, BucketSize, Certificate, DeliveryCounts, LatestResults, LedgerStatus,
    MailCounts, ObjectReference, Overview, Percentiles, Problems, PruneRun, Seal, Series, ServiceStatus,
    Verification,
};
use guerdon_domain::notifications::Channel;
use guerdon_domain::ports::{DurationSubject, ServiceHour, StoreError};
use guerdon_domain::providers::Provider;

use super::providers::{load_attempts, percentiles_since, to_latest_results};
use super::{COUNT_MAX, PageContext, capped_count, start_of_hour, to_count, to_utc};
use crate::maintenance::{PruneRecord, VerificationRecord, load_last_backup};

const CHART_HOURS: u16 = 24;
const CHART_DAYS: u16 = 30;

pub(super) fn load_overview(mut context: PageContext<'_>) -> Result<Overview, StoreError> {
    let hours = context.reads.service_hours(context.hours_back(i32::from(CHART_DAYS) * 24))?;
    let depth = context.reads.outbox_statistics()?;
    let mails = context.reads.count_unsent_notifications(Channel::Mail)?;
    let undelivered = context.reads.count_undelivered_events(None, COUNT_MAX)?;
    let first_hour = context.hours_back(i32::from(CHART_HOURS));
    let day = context.reads.provider_hours(None, first_hour)?;
    let durations = context.reads.duration_hours(DurationSubject::Requests, first_hour)?;
    let seal = context.reads.last_seal()?;
    Ok(Overview {
        activity: build_activity(&context, &hours),
        api: build_api_statistics(&context, &hours, percentiles_since(&durations, first_hour)),
        deliveries: DeliveryCounts {
            pending: capped_count(undelivered.pending),
            delivered: to_count(day.iter().map(|hour| hour.delivered).sum()),
            attempts: to_count(day.iter().map(|hour| hour.delivered + hour.failed).sum()),
            exhausted: capped_count(undelivered.exhausted),
            unaddressed: capped_count(undelivered.unaddressed),
            oldest_pending_at: depth.oldest_created_at.map(to_utc),
        },
        mails: MailCounts {
            waiting: capped_count(mails.waiting),
            sent: capped_count(context.reads.count_sent_notifications(Channel::Mail, COUNT_MAX)?),
            given_up: capped_count(mails.given_up),
        },
        ledger: LedgerStatus {
            last_seal: seal.map(|seal| Seal {
                sequence: to_count(seal.sequence),
                created_at: to_utc(seal.created_at),
                head: HEXLOWER.encode(&seal.head),
            }),
            last_verification: last_verification(&mut context)?,
            unbalanced_companies: to_count(context.service.unbalanced_companies.load(Ordering::Relaxed)),
        },
        problems: load_problems(&mut context)?,
        service: load_service_status(&mut context)?,
    })
}

fn build_activity(context: &PageContext<'_>, hours: &[ServiceHour]) -> Activity {
    let sums = |step, number, of: fn(&ServiceHour) -> i64| {
        Series::from_sums(
            step,
            context.now_utc(),
            number,
            hours.iter().map(|hour| (start_of_hour(hour.hour), of(hour))),
        )
    };
    Activity {
        recognitions_by_hour: sums(BucketSize::Hour, CHART_HOURS, |hour| hour.recognitions),
        points_by_hour: sums(BucketSize::Hour, CHART_HOURS, |hour| hour.points),
        recognitions_by_day: sums(BucketSize::Day, CHART_DAYS, |hour| hour.recognitions),
        points_by_day: sums(BucketSize::Day, CHART_DAYS, |hour| hour.points),
    }
}

fn build_api_statistics(
    context: &PageContext<'_>,
    hours: &[ServiceHour],
    percentiles: Option<Percentiles>,
) -> Option<ApiStatistics> {
    if hours.iter().all(|hour| hour.requests == 0) {
        return None;
    }
    let sums = |of: fn(&ServiceHour) -> i64| {
        let found = hours.iter().map(|hour| (start_of_hour(hour.hour), of(hour)));
        Series::from_sums(BucketSize::Hour, context.now_utc(), CHART_HOURS, found)
    };
    let means = hours.iter().filter_map(|hour| {
        hour.duration_micros.checked_div(hour.requests).map(|mean| (start_of_hour(hour.hour), mean))
    });
    Some(ApiStatistics {
        coverage: "Requests to all processes of this service, updated every ten seconds.".to_owned(),
        requests: sums(|hour| hour.requests),
        client_errors: sums(|hour| hour.client_errors),
        server_errors: sums(|hour| hour.server_errors),
        latency: Series::from_means(BucketSize::Hour, context.now_utc(), CHART_HOURS, means),
        percentiles,
    })
}

/// When the ledger was last verified, and its result.
fn last_verification(context: &mut PageContext<'_>) -> Result<Option<Verification>, StoreError> {
    let record = VerificationRecord::load(context.reads)?;
    Ok(record.and_then(|record| {
        Some(Verification { ended_at: to_utc(record.ended_at()?), violations: record.violations })
    }))
}

/// The latest prune that ended, with the numbers of deleted records.
fn last_prune(context: &mut PageContext<'_>) -> Result<Option<PruneRun>, StoreError> {
    let record = PruneRecord::load(context.reads)?;
    Ok(record.and_then(|record| {
        let deleted = (!record.deleted.is_empty()).then(|| record.deleted.to_text());
        Some(PruneRun { ended_at: to_utc(record.ended_at()?), deleted })
    }))
}

fn load_problems(context: &mut PageContext<'_>) -> Result<Problems, StoreError> {
    let number = |count: usize| u64::try_from(count).unwrap_or(0);
    let schedules = context.reads.list_active_schedules()?;
    let providers = context.reads.list_providers()?;
    Ok(Problems {
        low_reserves: to_count(context.reads.count_low_reserves()?),
        failing_schedules: number(
            schedules.iter().filter(|schedule| schedule.0.failed_attempts.is_some()).count(),
        ),
        suspended_providers: number(providers.iter().filter(|provider| provider.suspended).count()),
        failing_receivers: failing_receivers(context, &providers)?,
    })
}

/// Returns the providers whose receivers are failing, judged by their latest attempts.
fn failing_receivers(
    context: &mut PageContext<'_>,
    providers: &[Provider],
) -> Result<Vec<(ObjectReference, LatestResults)>, StoreError> {
    let (attempts, now) = (load_attempts(context.reads)?, context.now_utc());
    let failing = providers.iter().filter_map(|provider| {
        let results =
            attempts.get(&provider.id).map(to_latest_results).filter(|results| results.is_failing(now))?;
        Some((ObjectReference { id: provider.id.to_string(), name: provider.name.clone() }, results))
    });
    let mut failing: Vec<_> = failing.collect();
    failing.sort_by(|(a, _), (b, _)| a.name.cmp(&b.name));
    Ok(failing)
}

fn load_service_status(context: &mut PageContext<'_>) -> Result<ServiceStatus, StoreError> {
    let service = context.service;
    let up = time::Duration::try_from(service.started_at.elapsed()).unwrap_or_default();
    Ok(ServiceStatus {
        commit: crate::platform::build_info::COMMIT.to_owned(),
        started_at: context.now_utc() - up,
        database: service.database.clone(),
        database_bytes: Some(to_count(context.reads.database_bytes()?)),
        certificate: service
            .certificate_expires_at()
            .map(|end| Certificate { last_day: end.date(), is_self_signed: service.is_self_signed }),
        last_prune: last_prune(context)?,
        last_backup_at: load_last_backup(context.reads)?.map(to_utc),
    })
}
