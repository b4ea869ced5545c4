//! Which conditions raise an alert.

use time::macros::{date, datetime};

use super::*;
use crate::model::{
    Activity, ApiStatistics, BucketSize, CappedCount, DeliveryCounts, LatestResults, LedgerStatus,
    MailCounts, ObjectReference, Problems, PruneRun, Series, ServiceStatus, Verification,
};

const NOW: OffsetDateTime = datetime!(2026-11-20 14:35 UTC);

fn sample_frame() -> Frame {
    Frame {
        now: NOW,
        instance: "g.example".into(),
        version: "0.1.0".into(),
        is_in_maintenance: false,
        reload_link: "/".into(),
    }
}

/// A healthy service.
fn healthy_overview() -> Overview {
    let none = || Series::from_sums(BucketSize::Hour, NOW, 24, []);
    Overview {
        activity: Activity {
            recognitions_by_hour: none(),
            points_by_hour: none(),
            recognitions_by_day: none(),
            points_by_day: none(),
        },
        api: None,
        deliveries: DeliveryCounts {
            pending: CappedCount::new(3),
            oldest_pending_at: Some(NOW),
            ..DeliveryCounts::default()
        },
        mails: MailCounts::default(),
        ledger: LedgerStatus {
            last_verification: Some(Verification { ended_at: NOW, violations: 0 }),
            ..LedgerStatus::default()
        },
        service: ServiceStatus {
            commit: String::new(),
            started_at: NOW,
            database: "SQLite".into(),
            database_bytes: None,
            certificate: None,
            last_prune: None,
            last_backup_at: None,
        },
        problems: Problems::default(),
    }
}

fn alert_texts(overview: &Overview) -> Vec<(Tone, String)> {
    collect_alerts(overview, &sample_frame()).into_iter().map(|alert| (alert.tone, alert.text)).collect()
}

#[test]
fn healthy_service_has_no_alerts() {
    assert_eq!(alert_texts(&healthy_overview()), []);
}

#[test]
fn alerts_are_ordered_by_severity() {
    let mut overview = healthy_overview();
    overview.ledger.last_verification = None;
    overview.service.started_at = NOW - Duration::hours(1);
    overview.deliveries.exhausted = CappedCount::new(12);
    overview.problems.suspended_providers = 1;
    let expected = [
        (Tone::Bad, "12 events are exhausted.".to_owned()),
        (Tone::Warn, "The ledger was never verified: is verify.daily_at off?".to_owned()),
        (Tone::Warn, "1 provider is suspended: its events wait.".to_owned()),
    ];
    assert_eq!(alert_texts(&overview), expected);
}

#[test]
fn a_new_service_has_time_to_verify_the_ledger() {
    let mut overview = healthy_overview();
    overview.ledger.last_verification = None;
    overview.service.started_at = NOW - FIRST_VERIFICATION_GRACE;
    assert_eq!(alert_texts(&overview), []);
}

#[test]
fn an_old_backup_is_reported() {
    let mut overview = healthy_overview();
    overview.service.last_backup_at = Some(NOW - BACKUP_AGE_MAX);
    assert_eq!(alert_texts(&overview), []);
    overview.service.last_backup_at = Some(NOW - Duration::hours(27));
    let all = alert_texts(&overview);
    assert!(all.len() == 1 && all[0].1.starts_with("The last recorded backup was made "), "{all:?}");
    assert!(!all[0].1.contains("pg_dump"), "{all:?}");
    overview.service.database = "postgres://localhost/guerdon".into();
    assert!(alert_texts(&overview)[0].1.ends_with(" Make a backup with `pg_dump`; then record it."));
}

#[test]
fn an_overdue_prune_is_reported() {
    let mut overview = healthy_overview();
    let run = |age| Some(PruneRun { ended_at: NOW - age, deleted: None });
    overview.service.last_prune = run(PRUNE_AGE_MAX);
    assert_eq!(alert_texts(&overview), []);
    overview.service.last_prune = run(Duration::hours(49));
    let expected = "`guerdon prune` last completed 2 d 1 h ago. See the log.";
    assert_eq!(alert_texts(&overview), [(Tone::Warn, expected.to_owned())]);
}

#[test]
fn events_without_a_callback_url_are_reported() {
    let mut overview = healthy_overview();
    overview.deliveries.unaddressed = CappedCount::new(2);
    let expected = "2 events could not be sent: their provider had no callback URL.";
    assert_eq!(alert_texts(&overview), [(Tone::Warn, expected.to_owned())]);
}

#[test]
fn pending_event_is_reported_after_an_hour() {
    let mut overview = healthy_overview();
    overview.deliveries.oldest_pending_at = Some(NOW - Duration::hours(1));
    assert_eq!(alert_texts(&overview), []);
    overview.deliveries.oldest_pending_at = Some(NOW - Duration::minutes(90));
    assert_eq!(
        alert_texts(&overview),
        [(Tone::Warn, "The oldest pending event was created 1 h 30 min ago.".to_owned())]
    );
}

#[test]
fn failing_receiver_is_reported_at_once() {
    let failing = |number: usize| {
        let provider = ObjectReference { id: format!("id-{number}"), name: format!("Provider {number}") };
        (provider, LatestResults { attempts: 20, confirmed: 9, ended_at: NOW })
    };
    let mut overview = healthy_overview();
    overview.problems.failing_receivers = vec![failing(1)];
    let text = "The receiver of Provider 1 is failing: it confirmed 9 of the last 20 delivery attempts.";
    assert_eq!(alert_texts(&overview), [(Tone::Bad, text.to_owned())]);
    let link = collect_alerts(&overview, &sample_frame()).remove(0).link;
    assert_eq!(link, Some(("/providers/id-1".to_owned(), "See why")));
    overview.problems.failing_receivers = (1..=8).map(failing).collect();
    let all = alert_texts(&overview);
    assert_eq!((all.len(), all[5].1.as_str()), (6, "3 more receivers are failing."));
}

#[test]
fn server_errors_and_unbalanced_ledger_are_reported() {
    let none = || Series::from_sums(BucketSize::Hour, NOW, 24, []);
    let mut overview = healthy_overview();
    overview.ledger.unbalanced_companies = 1;
    overview.api = Some(ApiStatistics {
        coverage: String::new(),
        requests: none(),
        client_errors: none(),
        server_errors: Series::from_sums(BucketSize::Hour, NOW, 24, [(NOW, 2)]),
        latency: none(),
        percentiles: None,
    });
    let expected = [
        (
            Tone::Bad,
            "The accounts of 1 company do not sum to zero. Turn on maintenance mode, then verify the ledger."
                .to_owned(),
        ),
        (
            Tone::Bad,
            "2 requests failed with 5xx. A 503 means that the service was overloaded or its database \
             unavailable; for other statuses, see the log."
                .to_owned(),
        ),
    ];
    assert_eq!(alert_texts(&overview), expected);
}

#[test]
fn expiring_certificate_is_reported_unless_self_signed() {
    let check = |last_day, is_self_signed, expected: Option<&str>| {
        let mut overview = healthy_overview();
        overview.service.certificate = Some(Certificate { last_day, is_self_signed });
        assert_eq!(alert_texts(&overview).first().map(|(_, text)| text.as_str()), expected);
    };
    check(date!(2026 - 12 - 20), false, None);
    check(date!(2026 - 12 - 19), false, Some("The certificate expires in 29 days, on 2026-12-19."));
    check(date!(2026 - 12 - 19), true, None);
    check(date!(2026 - 11 - 20), true, Some("The certificate expires today."));
    check(date!(2026 - 11 - 19), false, Some("The certificate expired on 2026-11-19."));
}
