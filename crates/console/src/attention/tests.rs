//! Which conditions have a note.

use time::macros::{date, datetime};

use super::*;
use crate::model::{
    Activity, Api, Counted, Deliveries, Ledger, Mails, Named, Performance, Series, Service, Step, Troubles,
    Verification,
};

const NOW: OffsetDateTime = datetime!(2026-11-20 14:35 UTC);

fn frame() -> Frame {
    Frame { now: NOW, instance: "g.example".into(), version: "0.1.0".into(), is_in_maintenance: false }
}

/// A healthy service.
fn well() -> Overview {
    let none = || Series::sums(Step::Hour, NOW, 24, []);
    Overview {
        activity: Activity {
            recognitions_by_hour: none(),
            points_by_hour: none(),
            recognitions_by_day: none(),
            points_by_day: none(),
        },
        api: None,
        deliveries: Deliveries {
            pending: Counted::new(3),
            oldest_pending_at: Some(NOW),
            ..Deliveries::default()
        },
        mails: Mails::default(),
        ledger: Ledger {
            last_verification: Some(Verification { ended_at: NOW, violations: 0 }),
            ..Ledger::default()
        },
        service: Service {
            commit: String::new(),
            started_at: NOW,
            database: "SQLite".into(),
            database_bytes: None,
            certificate: None,
        },
        troubles: Troubles::default(),
    }
}

fn told(overview: &Overview) -> Vec<(Tone, String)> {
    notes(overview, &frame()).into_iter().map(|note| (note.tone, note.text)).collect()
}

#[test]
fn where_all_is_well_nothing_is_told() {
    assert_eq!(told(&well()), []);
}

#[test]
fn what_needs_somebody_is_told_in_words_the_worst_first() {
    let mut overview = well();
    overview.ledger.last_verification = None;
    overview.deliveries.exhausted = Counted::new(12);
    overview.troubles.suspended_providers = 1;
    let expected = [
        (Tone::Bad, "12 events were given up.".to_owned()),
        (Tone::Warn, "The ledger was never verified. Let it be done each night.".to_owned()),
        (Tone::Warn, "1 provider is suspended: its events wait.".to_owned()),
    ];
    assert_eq!(told(&overview), expected);
}

#[test]
fn waiting_is_told_after_an_hour() {
    let mut overview = well();
    overview.deliveries.oldest_pending_at = Some(NOW - Duration::hours(1));
    assert_eq!(told(&overview), []);
    overview.deliveries.oldest_pending_at = Some(NOW - Duration::minutes(90));
    assert_eq!(told(&overview), [(Tone::Warn, "The oldest event waits for 1 h 30 min.".to_owned())]);
}

#[test]
fn a_failing_receiver_is_reported_at_once() {
    let failing = |number: usize| {
        let provider = Named { id: format!("id-{number}"), name: format!("Provider {number}") };
        (provider, Performance { attempts: 1_340, confirmed: 0, mean_latency: None })
    };
    let mut overview = well();
    overview.troubles.failing_receivers = vec![failing(1)];
    let text = "The receiver of Provider 1 is failing: 0 of 1,340 delivery attempts confirmed in this hour and the one before.";
    assert_eq!(told(&overview), [(Tone::Bad, text.to_owned())]);
    let link = notes(&overview, &frame()).remove(0).link;
    assert_eq!(link, Some(("/providers/id-1".to_owned(), "See why")));
    overview.troubles.failing_receivers = (1..=8).map(failing).collect();
    let all = told(&overview);
    assert_eq!((all.len(), all[5].1.as_str()), (6, "3 more receivers are failing, too."));
}

#[test]
fn failures_and_unbalanced_books_are_told() {
    let none = || Series::sums(Step::Hour, NOW, 24, []);
    let mut overview = well();
    overview.ledger.unbalanced_companies = 1;
    overview.api = Some(Api {
        counted: String::new(),
        requests: none(),
        client_errors: none(),
        server_errors: Series::sums(Step::Hour, NOW, 24, [(NOW, 2)]),
        latency: none(),
    });
    let expected = [
        (
            Tone::Bad,
            "The accounts of 1 company do not add up. Stop the service and verify the ledger.".to_owned(),
        ),
        (Tone::Bad, "2 requests were answered 5xx: 503 while it was busy or in maintenance; of the rest the log tells why.".to_owned()),
    ];
    assert_eq!(told(&overview), expected);
}

#[test]
fn a_certificate_is_told_when_somebody_must_renew_it() {
    let check = |last_day, is_self_signed, expected: Option<&str>| {
        let mut overview = well();
        overview.service.certificate = Some(Certificate { last_day, is_self_signed });
        assert_eq!(told(&overview).first().map(|(_, text)| text.as_str()), expected);
    };
    check(date!(2026 - 12 - 20), false, None);
    check(date!(2026 - 12 - 19), false, Some("The certificate ends in 29 days, on 2026-12-19."));
    check(date!(2026 - 12 - 19), true, None);
    check(date!(2026 - 11 - 20), true, Some("The certificate ends today."));
    check(date!(2026 - 11 - 19), false, Some("The certificate ended on 2026-11-19."));
}
