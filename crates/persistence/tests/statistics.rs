//! What the operator's console reads about deliveries: durations, the latest attempts, and searches.

use std::time::Duration;

use guerdon_domain::companies::{self, CreateCompany};
use guerdon_domain::ports::{
    ClaimRequest, DeliveryOutcome, DurationCounts, DurationSubject, LatestAttempts, ProviderAttempts,
    ProviderHour, StoreExt as _, Timestamp, UserQuery,
};
use guerdon_domain::values::{DomainName, EmailAddress, EventId, Page, SingleLine};
use uuid::Uuid;

use crate::deliveries::{create_events, current_time, new_settlement, settle_events};
use crate::support::{LedgerFixture, on_each_database, sample_company};

fn durations_of(millis: &[u64]) -> DurationCounts {
    let mut counts = DurationCounts::default();
    millis.iter().for_each(|millis| counts.record_duration(Duration::from_millis(*millis)));
    counts
}

fn read_durations(fixture: &LedgerFixture, subject: DurationSubject) -> Vec<(i32, DurationCounts)> {
    fixture.read_snapshot(|reads| reads.duration_hours(subject, 100))
}

#[test]
fn durations_add_up_by_subject_and_hour() {
    on_each_database(|fixture| {
        let deliveries = DurationSubject::Deliveries(fixture.provider);
        let add = |hour, durations: &[(DurationSubject, DurationCounts)]| {
            fixture.store.transaction(|tx| tx.add_durations(hour, durations)).unwrap();
        };
        let both = [(DurationSubject::Requests, durations_of(&[1, 40])), (deliveries, durations_of(&[900]))];
        add(100, &both);
        add(100, &both);
        add(101, &[(DurationSubject::Requests, durations_of(&[7]))]);
        add(99, &both);
        add(100, &[]);
        let expected = vec![(100, durations_of(&[1, 1, 40, 40])), (101, durations_of(&[7]))];
        assert_eq!(read_durations(fixture, DurationSubject::Requests), expected);
        assert_eq!(read_durations(fixture, deliveries), [(100, durations_of(&[900, 900]))]);
        let hour = |hour: i64| Timestamp::from_unix_micros(hour * 3_600_000_000).unwrap();
        let prune = |at| fixture.store.transaction(|tx| tx.prune_statistics(at, 500)).unwrap();
        assert_eq!(prune(hour(2_400 + 100)), 3, "the rows of hour 99");
        assert_eq!(prune(hour(2_400 + 100)), 0);
        assert_eq!(fixture.database.count_rows("duration_statistics WHERE hour < 100"), 0);
        assert_eq!(read_durations(fixture, deliveries), [(100, durations_of(&[900, 900]))]);
    });
}

#[test]
fn each_provider_has_its_own_statistics() {
    on_each_database(|fixture| {
        let other = fixture.create_provider();
        let hour = |delivered| ProviderHour { hour: 100, delivered, failed: 1, duration_micros: 5 };
        for (provider, delivered) in [(fixture.provider, 3), (fixture.provider, 4), (other, 20)] {
            fixture.store.transaction(|tx| tx.add_provider_hour(provider, &hour(delivered))).unwrap();
        }
        let hours = |provider| fixture.read_snapshot(|reads| reads.provider_hours(provider, 100));
        let summed = |delivered, attempts| {
            [ProviderHour { failed: attempts, duration_micros: 5 * attempts, ..hour(delivered) }]
        };
        assert_eq!(hours(Some(fixture.provider)), summed(7, 2));
        assert_eq!(hours(Some(other)), summed(20, 1));
        assert_eq!(hours(None), summed(27, 3));

        create_events(fixture, 2);
        let undelivered = |provider| {
            let counts = fixture.read_snapshot(|reads| reads.count_undelivered_events(provider, 10));
            (counts.pending, counts.exhausted, counts.unaddressed)
        };
        assert_eq!(undelivered(Some(fixture.provider)), (2, 0, 0));
        assert_eq!(undelivered(Some(other)), (0, 0, 0));
        assert_eq!(undelivered(None), (2, 0, 0));
    });
}

fn results_of(results: &[bool]) -> LatestAttempts {
    let mut latest = LatestAttempts::default();
    results.iter().for_each(|result| latest.record_result(*result));
    latest
}

#[test]
fn results_of_several_processes_are_appended_and_the_oldest_dropped() {
    on_each_database(|fixture| {
        let ended_at = current_time(fixture);
        let add = |results: &[bool]| {
            let added =
                ProviderAttempts { provider: fixture.provider, latest: results_of(results), ended_at };
            fixture.store.transaction(|tx| tx.add_provider_attempts(&[added])).unwrap();
            fixture.read_snapshot(|reads| reads.list_provider_attempts())
        };
        let expect = |results: &[bool]| {
            vec![ProviderAttempts { provider: fixture.provider, latest: results_of(results), ended_at }]
        };
        assert_eq!(add(&[true; 12]), expect(&[true; 12]));
        assert_eq!(add(&[false, true]), expect(&[vec![true; 12], vec![false, true]].concat()));
        let eleven_failed = [vec![true; 7], vec![false, true], vec![false; 11]].concat();
        assert_eq!(add(&[false; 11]), expect(&eleven_failed));
        assert_eq!(add(&[false; 40]), expect(&[false; 20]));
    });
}

#[test]
fn the_latest_attempt_of_each_event_is_found() {
    on_each_database(|fixture| {
        create_events(fixture, 3);
        let at = current_time(fixture);
        let claim = |number: u64, at| {
            let lease = Uuid::from_u64_pair(7, number);
            let claim =
                ClaimRequest { provider: fixture.provider, limit: 2, now: at, lease_until: at, lease };
            fixture.store.transaction(|tx| tx.claim_events(&claim)).unwrap().unwrap().events
        };
        let first = claim(1, at);
        let retry = DeliveryOutcome::RetryAt(at);
        let failed: Vec<_> = first.iter().map(|event| new_settlement(fixture, event, 1, retry, at)).collect();
        settle_events(fixture, &failed);
        let again = claim(2, at).into_iter().find(|event| event.attempts == 1).unwrap();
        let delivered = DeliveryOutcome::Delivered;
        settle_events(fixture, &[new_settlement(fixture, &again, 2, delivered, at)]);
        let other = first.iter().find(|event| event.id != again.id).unwrap().id;
        let ids = [again.id, other, EventId::from_uuid(Uuid::nil())];
        let found = fixture.read_snapshot(|reads| reads.latest_attempts_of_events(&ids));
        assert_eq!(found.len(), 2);
        assert_eq!((found[&again.id].number, found[&again.id].status), (2, Some(200)));
        assert_eq!((found[&other].number, found[&other].status), (1, Some(503)));
        assert_eq!(found[&other].response_headers.as_deref(), Some("server: x\n"));
        assert_eq!(found[&again.id].response_headers, None);
    });
}

#[test]
fn companies_and_users_are_found_in_all_providers() {
    on_each_database(|fixture| {
        let ann = fixture.create_user("ann");
        let search = |text: &str| {
            let found = fixture.read_snapshot(|reads| reads.search_companies(text, 10));
            found.into_iter().map(|found| found.id).collect::<Vec<_>>()
        };
        let own = fixture.read_snapshot(|reads| reads.search_companies("", 1)).remove(0);
        assert_eq!(search(&own.domain.to_uppercase()), [fixture.company]);
        assert_eq!(search(own.name.get(1..).unwrap()), [fixture.company]);
        assert_eq!((search("%"), search("_")), (Vec::new(), Vec::new()), "wildcards are escaped");
        let longer = CreateCompany {
            domain: DomainName::parse(&format!("a.{}", own.domain)).unwrap(),
            name: SingleLine::parse("A").unwrap(),
            ..sample_company(1)
        };
        let created = fixture.store.transaction(|tx| {
            companies::create(tx, fixture.provider, &longer, &fixture.context())
                .map(|created| created.company.id)
        });
        assert_eq!(search(&own.domain), [fixture.company, created.unwrap()], "a whole domain comes first");
        let find = |address: &str| {
            let email = EmailAddress::parse(address).unwrap();
            fixture.read_snapshot(|reads| reads.find_users_by_email(&email, 10))
        };
        let (all, page) = (UserQuery::default(), Page::new(1, 100).unwrap());
        let users = fixture.read_snapshot(|reads| reads.list_users(fixture.company, &all, page));
        let address = users.into_iter().find(|user| user.id == ann).unwrap().profile.email;
        assert_eq!(find(&address.as_str().to_uppercase()), [(ann, fixture.company)]);
        assert_eq!(find("nobody@nowhere.example"), []);
        fixture.delete_user(ann).unwrap();
        assert_eq!(find(address.as_str()), [], "deleted users keep no address");
    });
}
