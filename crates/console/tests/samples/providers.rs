//! Sample models of the provider pages.

use guerdon_console::model::{
    Counted, Failure, Performance, Provider, ProviderDetail, ProviderRow, Providers, Rows, Series, Step,
    Waiting,
};
use time::Duration;

use super::{NASTY, NOW, events, id, past, wave};

pub fn provider(number: u32) -> Provider {
    let names = ["Acme Rewards", "Kudos & Co.", NASTY, "Legacy HR Suite", "Trial"];
    let name =
        names.iter().cycle().nth(usize::try_from(number).unwrap_or(1) - 1).copied().unwrap_or_default();
    Provider {
        id: id(number),
        name: name.to_owned(),
        callback_origin: (number != 5).then(|| format!("https://hooks-{number}.example.com")),
        is_designated: number % 2 == 1,
        is_suspended: number == 4,
    }
}

fn performance(number: u32) -> Performance {
    let attempts = u64::from(wave(number + 7, 90_000));
    Performance {
        attempts,
        confirmed: attempts - attempts / 97,
        mean_latency: Some(84_200 * i64::from(number)),
    }
}

pub fn list() -> Providers {
    let row = |number| ProviderRow {
        provider: provider(number),
        companies: u64::from(wave(number, 300)),
        last_24h: if number == 5 { Performance::default() } else { performance(number) },
        waiting: Waiting {
            pending: Counted::new(u64::from(wave(number, 40))),
            exhausted: Counted::new(if number == 2 { 12 } else { 0 }),
            unaddressed: Counted::new(if number == 5 { 3 } else { 0 }),
        },
    };
    Providers { list: Rows { rows: (1..=5).map(row).collect(), total: 5 } }
}

pub fn none() -> Providers {
    Providers { list: Rows { rows: Vec::new(), total: 0 } }
}

pub fn large() -> ProviderDetail {
    let hours = |most, shift| past(24, Duration::HOUR, |age| i64::from(wave(38 - age + shift, most)));
    let days = |most, shift| past(30, Duration::DAY, |age| i64::from(wave(age * 5 + shift, most)));
    ProviderDetail {
        provider: provider(2),
        companies: 42,
        last_24h: performance(2),
        last_30d: performance(30),
        confirmed_by_hour: Series::sums(Step::Hour, NOW, 24, hours(4_000, 0)),
        failed_by_hour: Series::sums(Step::Hour, NOW, 24, hours(300, 9)),
        confirmed_by_day: Series::sums(Step::Day, NOW, 30, days(50_000, 6)),
        failed_by_day: Series::sums(Step::Day, NOW, 30, days(3_000, 2)),
        waiting: Waiting { pending: Counted::new(31), exhausted: Counted::new(12), ..Waiting::default() },
        last_failure: Some(Failure {
            event_id: id(5_003),
            attempt: events::attempt(11, Some(403), "answered with status 403"),
        }),
    }
}

pub fn empty() -> ProviderDetail {
    let hours = || Series::sums(Step::Hour, NOW, 24, []);
    let days = || Series::sums(Step::Day, NOW, 30, []);
    ProviderDetail {
        provider: Provider { is_suspended: true, ..provider(5) },
        companies: 0,
        last_24h: Performance::default(),
        last_30d: Performance::default(),
        confirmed_by_hour: hours(),
        failed_by_hour: hours(),
        confirmed_by_day: days(),
        failed_by_day: days(),
        waiting: Waiting::default(),
        last_failure: None,
    }
}
