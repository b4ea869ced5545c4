//! Providers, and the delivery statistics of their receivers.

use guerdon_console::Listing;
use guerdon_console::model::{
    Failure, Performance, Provider, ProviderDetail, ProviderRow, Providers, Series, Step, Waiting,
};
use guerdon_console::pages::providers::ProviderColumn;
use guerdon_domain::ports::{ProviderHour, StoreError, Undelivered};
use guerdon_domain::providers::Provider as Whole;
use guerdon_domain::values::ProviderId;
use url::Url;

use super::attempts::attempt;
use super::{Look, MOST, count, counted, hour_begins};

const HOURS: u16 = 24;
const DAYS: u16 = 30;

/// Returns scheme, host and port of a callback URL.
fn origin(callback_url: &str) -> String {
    Url::parse(callback_url).map_or_else(|_| "set".to_owned(), |url| url.origin().ascii_serialization())
}

pub(super) fn shown(it: &Whole) -> Provider {
    Provider {
        id: it.id.to_string(),
        name: it.name.clone(),
        callback_origin: it.callback_url.as_deref().map(origin),
        is_designated: it.manages_all_domain_resources,
        is_suspended: it.suspended,
    }
}

fn waiting(it: Undelivered) -> Waiting {
    Waiting {
        pending: counted(it.pending),
        exhausted: counted(it.exhausted),
        unaddressed: counted(it.unaddressed),
    }
}

/// Sums up the attempts since the hour `from`.
pub(super) fn performance(hours: &[ProviderHour], from: i32) -> Performance {
    let (mut confirmed, mut attempts, mut micros) = (0, 0, 0_i64);
    for hour in hours.iter().filter(|hour| hour.hour >= from) {
        confirmed += hour.delivered;
        attempts += hour.delivered + hour.failed;
        micros = micros.saturating_add(hour.micros);
    }
    Performance {
        attempts: count(attempts),
        confirmed: count(confirmed),
        mean_latency: micros.checked_div(attempts),
    }
}

pub(super) fn providers(look: Look<'_>) -> Result<Providers, StoreError> {
    let from = look.hours_back(i32::from(HOURS));
    let mut rows = Vec::new();
    for provider in look.reads.providers()? {
        rows.push(ProviderRow {
            provider: shown(&provider),
            companies: count(look.reads.company_count(provider.id, None)?),
            last_24h: performance(&look.reads.provider_hours(Some(provider.id), from)?, from),
            waiting: waiting(look.reads.undelivered(Some(provider.id), MOST)?),
        });
    }
    Ok(Providers { list: Listing::<ProviderColumn>::read(look.query).cut(rows) })
}

pub(super) fn provider(look: Look<'_>, id: &str) -> Result<Option<ProviderDetail>, StoreError> {
    let Ok(id) = id.parse::<ProviderId>() else { return Ok(None) };
    let Some(provider) = look.reads.provider(id)? else { return Ok(None) };
    let (recent, long) = (look.hours_back(i32::from(HOURS)), look.hours_back(i32::from(DAYS) * 24));
    let hours = look.reads.provider_hours(Some(id), long)?;
    let series = |step, number, of: fn(&ProviderHour) -> i64| {
        Series::sums(step, look.time(), number, hours.iter().map(|hour| (hour_begins(hour.hour), of(hour))))
    };
    let (confirmed_by_hour, failed_by_hour) =
        (series(Step::Hour, HOURS, |hour| hour.delivered), series(Step::Hour, HOURS, |hour| hour.failed));
    let (confirmed_by_day, failed_by_day) =
        (series(Step::Day, DAYS, |hour| hour.delivered), series(Step::Day, DAYS, |hour| hour.failed));
    let last = look.reads.last_failure(id)?;
    Ok(Some(ProviderDetail {
        provider: shown(&provider),
        companies: count(look.reads.company_count(id, None)?),
        last_24h: performance(&hours, recent),
        last_30d: performance(&hours, long),
        confirmed_by_hour,
        failed_by_hour,
        confirmed_by_day,
        failed_by_day,
        waiting: waiting(look.reads.undelivered(Some(id), MOST)?),
        last_failure: last
            .map(|(event, made)| Failure { event_id: event.to_string(), attempt: attempt(&made, None) }),
    }))
}
