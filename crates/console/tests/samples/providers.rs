//! Sample models of the provider pages.

use guerdon_console::model::{
    BucketSize, CappedCount, DeliveryFailure, LatestResults, Percentiles, Performance, Provider,
    ProviderDetail, ProviderRow, Providers, Series, TablePage, UndeliveredEvents,
};
use time::Duration;

use super::{HOSTILE_NAME, NOW, events, sample_history, sample_id, sample_wave};

pub fn sample_provider(number: u32) -> Provider {
    let names = ["Acme Rewards", "Kudos & Co.", HOSTILE_NAME, "Legacy HR Suite", "Trial"];
    let name =
        names.iter().cycle().nth(usize::try_from(number).unwrap_or(1) - 1).copied().unwrap_or_default();
    Provider {
        id: sample_id(number),
        name: name.to_owned(),
        callback_origin: (number != 5).then(|| format!("https://hooks-{number}.example.com")),
        is_designated: number % 2 == 1,
        is_suspended: number == 4,
    }
}

fn sample_performance(number: u32) -> Performance {
    let attempts = u64::from(sample_wave(number + 7, 90_000));
    Performance {
        attempts,
        confirmed: attempts - attempts / 97,
        mean_latency: Some(84_200 * i64::from(number)),
        percentiles: Some(Percentiles { p50: 70_000, p95: 181_000, p99: 2_430_000 }),
    }
}

fn sample_results(number: u32) -> Option<LatestResults> {
    (number != 5).then_some(LatestResults { attempts: 20, confirmed: number * 6 % 20, ended_at: NOW })
}

pub fn provider_list() -> Providers {
    let row = |number| ProviderRow {
        provider: sample_provider(number),
        companies: u64::from(sample_wave(number, 300)),
        last_24h: if number == 5 { Performance::default() } else { sample_performance(number) },
        latest: sample_results(number),
        undelivered: UndeliveredEvents {
            pending: CappedCount::new(u64::from(sample_wave(number, 40))),
            exhausted: CappedCount::new(if number == 2 { 12 } else { 0 }),
            unaddressed: CappedCount::new(if number == 5 { 3 } else { 0 }),
        },
    };
    Providers { list: TablePage { rows: (1..=5).map(row).collect(), total: 5 } }
}

pub fn empty_provider_list() -> Providers {
    Providers { list: TablePage { rows: Vec::new(), total: 0 } }
}

pub fn large_provider() -> ProviderDetail {
    let hours = |most, shift| {
        sample_history(24, Duration::HOUR, |age| i64::from(sample_wave(38 - age + shift, most)))
    };
    let days =
        |most, shift| sample_history(30, Duration::DAY, |age| i64::from(sample_wave(age * 5 + shift, most)));
    ProviderDetail {
        provider: sample_provider(2),
        companies: 42,
        last_24h: sample_performance(2),
        last_30d: sample_performance(30),
        latest: sample_results(2),
        confirmed_by_hour: Series::from_sums(BucketSize::Hour, NOW, 24, hours(4_000, 0)),
        failed_by_hour: Series::from_sums(BucketSize::Hour, NOW, 24, hours(300, 9)),
        confirmed_by_day: Series::from_sums(BucketSize::Day, NOW, 30, days(50_000, 6)),
        failed_by_day: Series::from_sums(BucketSize::Day, NOW, 30, days(3_000, 2)),
        undelivered: UndeliveredEvents {
            pending: CappedCount::new(31),
            exhausted: CappedCount::new(12),
            ..UndeliveredEvents::default()
        },
        last_failure: Some(DeliveryFailure {
            event_id: sample_id(5_003),
            attempt: events::failed_attempt(11, Some(403), "returned status 403"),
        }),
    }
}

pub fn empty_provider() -> ProviderDetail {
    let hours = || Series::from_sums(BucketSize::Hour, NOW, 24, []);
    let days = || Series::from_sums(BucketSize::Day, NOW, 30, []);
    ProviderDetail {
        provider: Provider { is_suspended: true, ..sample_provider(5) },
        companies: 0,
        last_24h: Performance::default(),
        last_30d: Performance::default(),
        latest: None,
        confirmed_by_hour: hours(),
        failed_by_hour: hours(),
        confirmed_by_day: days(),
        failed_by_day: days(),
        undelivered: UndeliveredEvents::default(),
        last_failure: None,
    }
}
