//! Sample models of the overview: a busy service with problems, and a new one.

use guerdon_console::model::{
    Activity, ApiStatistics, BucketSize, CappedCount, Certificate, DeliveryCounts, LatestResults,
    LedgerStatus, MailCounts, ObjectReference, Overview, Percentiles, Problems, PruneRun, Seal, Series,
    ServiceStatus, Verification,
};
use time::Duration;
use time::macros::{date, datetime};

use super::{NOW, sample_history, sample_wave};

fn sample_hours(most: u32, factor: i64) -> Series {
    let values = sample_history(24, Duration::HOUR, |age| i64::from(sample_wave(38 - age, most)) * factor);
    Series::from_sums(BucketSize::Hour, NOW, 24, values)
}

fn sample_days(most: u32, factor: i64) -> Series {
    let values = sample_history(30, Duration::DAY, |age| i64::from(sample_wave(age * 7 + 9, most)) * factor);
    Series::from_sums(BucketSize::Day, NOW, 30, values)
}

fn sample_api_statistics() -> ApiStatistics {
    let latency = sample_history(24, Duration::HOUR, |age| i64::from(1_200 + sample_wave(age, 4_000)));
    let server_errors = [(NOW - Duration::hours(5), 37), (NOW, 2)];
    ApiStatistics {
        coverage: "Requests to this process since it started, 3 days ago.".to_owned(),
        requests: sample_hours(48_000, 1),
        client_errors: sample_hours(400, 1),
        server_errors: Series::from_sums(BucketSize::Hour, NOW, 24, server_errors),
        latency: Series::from_means(
            BucketSize::Hour,
            NOW,
            24,
            latency.into_iter().filter(|(at, _)| at.hour() != 3),
        ),
        percentiles: Some(Percentiles { p50: 1_100, p95: 7_400, p99: 24_000 }),
    }
}

pub fn busy_overview() -> Overview {
    Overview {
        activity: Activity {
            recognitions_by_hour: sample_hours(900, 1),
            points_by_hour: sample_hours(900, 123_456),
            recognitions_by_day: sample_days(14_000, 1),
            points_by_day: sample_days(14_000, 9_000_000_000),
        },
        api: Some(sample_api_statistics()),
        deliveries: DeliveryCounts {
            pending: CappedCount::new(1_284),
            delivered: 8_412_733,
            attempts: 9_001_200,
            exhausted: CappedCount::new(12),
            unaddressed: CappedCount::new(3),
            oldest_pending_at: Some(NOW - Duration::minutes(167)),
        },
        mails: MailCounts {
            waiting: CappedCount::new(2),
            sent: CappedCount::new(1_408),
            given_up: CappedCount::new(1),
        },
        ledger: LedgerStatus {
            last_seal: Some(Seal {
                sequence: 48_211,
                created_at: NOW - Duration::seconds(4),
                head: "5f0c9b1e77a24f0d8a30f2c66d0d2f8b1f2a9c83e4d5b6a7980c1d2e3f405162".to_owned(),
            }),
            last_verification: Some(Verification { ended_at: NOW - Duration::hours(11), violations: 0 }),
            unbalanced_companies: 0,
        },
        service: ServiceStatus {
            commit: "9512051".to_owned(),
            started_at: datetime!(2026-11-17 06:00 UTC),
            database: "PostgreSQL 15.8".to_owned(),
            database_bytes: Some(48_318_382_080),
            certificate: Some(Certificate { last_day: date!(2026 - 12 - 04), is_self_signed: false }),
            last_prune: Some(PruneRun {
                ended_at: NOW - Duration::hours(5),
                deleted: Some("1,204 delivered events, 3 emails, 977 idempotency records".to_owned()),
            }),
            last_backup_at: Some(NOW - Duration::hours(10)),
        },
        problems: sample_problems(),
    }
}

fn sample_problems() -> Problems {
    let failing = ObjectReference {
        id: "0190f3d2-4e00-7000-8000-000000000001".to_owned(),
        name: "Perks & Co".to_owned(),
    };
    let recent = LatestResults { attempts: 20, confirmed: 0, ended_at: NOW };
    Problems {
        low_reserves: 2,
        failing_schedules: 1,
        suspended_providers: 1,
        failing_receivers: vec![(failing, recent)],
    }
}

pub fn empty_overview() -> Overview {
    let hours = || Series::from_sums(BucketSize::Hour, NOW, 24, []);
    let days = || Series::from_sums(BucketSize::Day, NOW, 30, []);
    Overview {
        activity: Activity {
            recognitions_by_hour: hours(),
            points_by_hour: hours(),
            recognitions_by_day: days(),
            points_by_day: days(),
        },
        api: None,
        deliveries: DeliveryCounts::default(),
        mails: MailCounts::default(),
        ledger: LedgerStatus {
            last_verification: Some(Verification { ended_at: NOW, violations: 0 }),
            ..LedgerStatus::default()
        },
        service: ServiceStatus {
            commit: "9512051".to_owned(),
            started_at: NOW - Duration::seconds(9),
            database: "SQLite 3.51.3".to_owned(),
            database_bytes: None,
            certificate: None,
            last_prune: None,
            last_backup_at: None,
        },
        problems: Problems::default(),
    }
}
