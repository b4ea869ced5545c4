//! Providers, and the delivery statistics of their receivers.

use std::collections::HashMap;

use guerdon_console::Listing;
use guerdon_console::model::{
    BucketSize, DeliveryFailure, LatestResults, Percentiles, Performance, Provider, ProviderDetail,
    ProviderRow, Providers, Series, UndeliveredEvents,
};
use guerdon_console::pages::providers::ProviderColumn;
use guerdon_domain::ports::{
    DurationCounts, DurationSubject, ProviderAttempts, ProviderHour, ReadTx, StoreError, UndeliveredCounts,
};
use guerdon_domain::providers::Provider as ProviderRecord;
use guerdon_domain::values::ProviderId;
use url::Url;

use super::attempts::to_attempt;
use super::{COUNT_MAX, PageContext, capped_count, start_of_hour, to_count, to_utc};

const CHART_HOURS: u16 = 24;
const CHART_DAYS: u16 = 30;

/// Returns scheme, host and port of a callback URL.
fn callback_origin(callback_url: &str) -> String {
    Url::parse(callback_url).map_or_else(|_| "set".to_owned(), |url| url.origin().ascii_serialization())
}

pub(super) fn to_provider(provider: &ProviderRecord) -> Provider {
    Provider {
        id: provider.id.to_string(),
        name: provider.name.clone(),
        callback_origin: provider.callback_url.as_deref().map(callback_origin),
        is_designated: provider.manages_all_domain_resources,
        is_suspended: provider.suspended,
    }
}

fn to_undelivered(provider: UndeliveredCounts) -> UndeliveredEvents {
    UndeliveredEvents {
        pending: capped_count(provider.pending),
        exhausted: capped_count(provider.exhausted),
        unaddressed: capped_count(provider.unaddressed),
    }
}

/// Sums up the attempts and their durations since the hour `from`.
fn sum_performance(hours: &[ProviderHour], durations: &[(i32, DurationCounts)], from: i32) -> Performance {
    let (mut confirmed, mut attempts, mut micros) = (0, 0, 0_i64);
    for hour in hours.iter().filter(|hour| hour.hour >= from) {
        confirmed += hour.delivered;
        attempts += hour.delivered + hour.failed;
        micros = micros.saturating_add(hour.duration_micros);
    }
    Performance {
        attempts: to_count(attempts),
        confirmed: to_count(confirmed),
        mean_latency: micros.checked_div(attempts),
        percentiles: percentiles_since(durations, from),
    }
}

/// Returns the percentiles of all durations since the hour `from`.
pub(super) fn percentiles_since(durations: &[(i32, DurationCounts)], from: i32) -> Option<Percentiles> {
    let mut all = DurationCounts::default();
    durations.iter().filter(|(hour, _)| *hour >= from).for_each(|(_, counts)| all.merge(counts));
    let percentile = |percent| all.percentile_micros(percent);
    Some(Percentiles { p50: percentile(50)?, p95: percentile(95)?, p99: percentile(99)? })
}

/// Returns the latest attempts of each provider that has any.
pub(super) fn load_attempts(
    reads: &mut dyn ReadTx,
) -> Result<HashMap<ProviderId, ProviderAttempts>, StoreError> {
    let attempts = reads.list_provider_attempts()?;
    Ok(attempts.into_iter().map(|attempts| (attempts.provider, attempts)).collect())
}

/// The results of a provider's latest attempts.
pub(super) fn to_latest_results(attempts: &ProviderAttempts) -> LatestResults {
    LatestResults {
        attempts: attempts.latest.attempts(),
        confirmed: attempts.latest.confirmed(),
        ended_at: to_utc(attempts.ended_at),
    }
}

pub(super) fn load_providers(context: PageContext<'_>) -> Result<Providers, StoreError> {
    let from = context.hours_back(i32::from(CHART_HOURS));
    let attempts = load_attempts(context.reads)?;
    let mut rows = Vec::new();
    for provider in context.reads.list_providers()? {
        let hours = context.reads.provider_hours(Some(provider.id), from)?;
        let durations = context.reads.duration_hours(DurationSubject::Deliveries(provider.id), from)?;
        rows.push(ProviderRow {
            provider: to_provider(&provider),
            companies: to_count(context.reads.count_companies(provider.id, None)?),
            last_24h: sum_performance(&hours, &durations, from),
            latest: attempts.get(&provider.id).map(to_latest_results),
            undelivered: to_undelivered(
                context.reads.count_undelivered_events(Some(provider.id), COUNT_MAX)?,
            ),
        });
    }
    Ok(Providers { list: Listing::<ProviderColumn>::from_query(context.query).sort_and_paginate(rows) })
}

pub(super) fn load_provider(
    context: PageContext<'_>,
    id: &str,
) -> Result<Option<ProviderDetail>, StoreError> {
    let Ok(id) = id.parse::<ProviderId>() else { return Ok(None) };
    let Some(provider) = context.reads.find_provider(id)? else { return Ok(None) };
    let (recent, month) =
        (context.hours_back(i32::from(CHART_HOURS)), context.hours_back(i32::from(CHART_DAYS) * 24));
    let hours = context.reads.provider_hours(Some(id), month)?;
    let durations = context.reads.duration_hours(DurationSubject::Deliveries(id), month)?;
    let attempts = load_attempts(context.reads)?;
    let series = |step, number, of: fn(&ProviderHour) -> i64| {
        Series::from_sums(
            step,
            context.now_utc(),
            number,
            hours.iter().map(|hour| (start_of_hour(hour.hour), of(hour))),
        )
    };
    let (confirmed_by_hour, failed_by_hour) = (
        series(BucketSize::Hour, CHART_HOURS, |hour| hour.delivered),
        series(BucketSize::Hour, CHART_HOURS, |hour| hour.failed),
    );
    let (confirmed_by_day, failed_by_day) = (
        series(BucketSize::Day, CHART_DAYS, |hour| hour.delivered),
        series(BucketSize::Day, CHART_DAYS, |hour| hour.failed),
    );
    let last_failure = context.reads.last_failed_attempt(id)?;
    Ok(Some(ProviderDetail {
        provider: to_provider(&provider),
        companies: to_count(context.reads.count_companies(id, None)?),
        last_24h: sum_performance(&hours, &durations, recent),
        last_30d: sum_performance(&hours, &durations, month),
        latest: attempts.get(&id).map(to_latest_results),
        confirmed_by_hour,
        failed_by_hour,
        confirmed_by_day,
        failed_by_day,
        undelivered: to_undelivered(context.reads.count_undelivered_events(Some(id), COUNT_MAX)?),
        last_failure: last_failure.map(|(event, attempt)| DeliveryFailure {
            event_id: event.to_string(),
            attempt: to_attempt(&attempt, None),
        }),
    }))
}
