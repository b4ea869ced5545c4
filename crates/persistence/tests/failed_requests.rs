//! Failed requests: which are kept, and how they are found.

use std::time::Duration;

use guerdon_domain::ports::{
    FAILED_REQUESTS_MAX, FAILED_REQUESTS_PER_PROVIDER_MAX, FailedRequest, FailedRequestQuery, StoreExt as _,
    Timestamp,
};
use guerdon_domain::values::ProviderId;
use uuid::Uuid;

use crate::support::{LedgerFixture, on_each_database};

/// Enough for every record.
const ALL: i64 = 100_000;

fn provider(number: u128) -> ProviderId {
    ProviderId::from_uuid(Uuid::from_u128(number))
}

/// The time of the record with this number. Records are one second apart.
fn time_of(number: u64) -> Timestamp {
    Timestamp::parse("2026-11-20T20:00:00Z").unwrap() + Duration::from_secs(number)
}

/// A record; those with higher numbers are newer.
fn failed_request(number: u64, provider_id: Option<ProviderId>, status: u16) -> FailedRequest {
    let at = time_of(number);
    let millis = u128::try_from(at.unix_micros() / 1_000).unwrap();
    FailedRequest {
        id: Uuid::from_u128(millis << 80 | u128::from(number)),
        request_id: format!("request-{number}"),
        at,
        provider_id,
        method: "GET".into(),
        route: Some("/v1/users/:id".to_owned()),
        status,
        duration_ms: number,
        reason: "user not found".to_owned(),
    }
}

fn record(fixture: &LedgerFixture, requests: &[FailedRequest]) {
    fixture.store.transaction(|tx| tx.record_failed_requests(requests)).unwrap();
}

fn list(fixture: &LedgerFixture, query: FailedRequestQuery) -> Vec<FailedRequest> {
    let query = FailedRequestQuery { limit: if query.limit == 0 { ALL } else { query.limit }, ..query };
    fixture.read_snapshot(|reads| reads.list_failed_requests(&query))
}

/// The numbers of the records that a query finds, in its order.
fn numbers(fixture: &LedgerFixture, query: FailedRequestQuery) -> Vec<u64> {
    list(fixture, query).into_iter().map(|request| request.duration_ms).collect()
}

#[test]
fn a_record_is_read_as_it_was_stored_and_stored_once() {
    on_each_database(|fixture| {
        let known = failed_request(1, Some(provider(7)), 404);
        let mut unknown = failed_request(2, None, 503);
        unknown.route = None;
        record(fixture, &[known.clone(), unknown.clone()]);
        record(fixture, std::slice::from_ref(&known));
        assert_eq!(list(fixture, FailedRequestQuery::default()), [unknown, known]);
    });
}

#[test]
fn every_condition_narrows_the_list() {
    on_each_database(|fixture| {
        let (one, other) = (Some(provider(1)), Some(provider(2)));
        let all = [(one, 404), (other, 404), (None, 401), (one, 500), (one, 503)];
        let all: Vec<_> =
            (1..).zip(all).map(|(number, (of, status))| failed_request(number, of, status)).collect();
        record(fixture, &all);
        let check = |query: FailedRequestQuery, expected: &[u64]| {
            assert_eq!(numbers(fixture, query.clone()), expected, "{query:?}");
        };
        let any = FailedRequestQuery::default;
        check(any(), &[5, 4, 3, 2, 1]);
        check(FailedRequestQuery { limit: 2, ..any() }, &[5, 4]);
        check(FailedRequestQuery { provider: one, ..any() }, &[5, 4, 1]);
        check(FailedRequestQuery { statuses: Some(404..=404), ..any() }, &[2, 1]);
        check(FailedRequestQuery { statuses: Some(400..=499), ..any() }, &[3, 2, 1]);
        check(FailedRequestQuery { statuses: Some(500..=599), provider: one, ..any() }, &[5, 4]);
        check(FailedRequestQuery { since: Some(time_of(4)), ..any() }, &[5, 4]);
        check(FailedRequestQuery { request_id: Some("request-3".to_owned()), ..any() }, &[3]);
        check(FailedRequestQuery { request_id: Some("request".to_owned()), ..any() }, &[]);
        check(FailedRequestQuery { before: Some(all[3].id), limit: 2, ..any() }, &[3, 2]);
        check(FailedRequestQuery { after: Some(all[1].id), limit: 2, ..any() }, &[4, 3]);
    });
}

#[test]
fn client_errors_never_displace_server_errors_or_those_of_other_providers() {
    on_each_database(|fixture| {
        let (quiet, noisy) = (Some(provider(1)), Some(provider(2)));
        let kept = u64::try_from(FAILED_REQUESTS_PER_PROVIDER_MAX).unwrap();
        record(fixture, &[failed_request(1, noisy, 500), failed_request(2, quiet, 404)]);
        let flood: Vec<_> = (3..=kept + 102).map(|number| failed_request(number, noisy, 404)).collect();
        for batch in flood.chunks(300) {
            record(fixture, batch);
        }
        let of = |provider, statuses| {
            let query =
                FailedRequestQuery { provider, statuses: Some(statuses), ..FailedRequestQuery::default() };
            numbers(fixture, query)
        };
        assert_eq!(of(noisy, 500..=599), [1]);
        assert_eq!(of(quiet, 400..=499), [2]);
        let newest: Vec<u64> = (103..=kept + 102).rev().collect();
        assert_eq!(of(noisy, 400..=499), newest);
    });
}

#[test]
fn the_number_of_records_is_bounded() {
    on_each_database(|fixture| {
        let mut number = 0;
        for source in 0..=u128::try_from(FAILED_REQUESTS_MAX / FAILED_REQUESTS_PER_PROVIDER_MAX).unwrap() {
            let provider = (source > 0).then(|| provider(source));
            let batch: Vec<_> = (0..FAILED_REQUESTS_PER_PROVIDER_MAX)
                .map(|_| {
                    number += 1;
                    failed_request(number, provider, 400)
                })
                .collect();
            record(fixture, &batch);
        }
        let kept = numbers(fixture, FailedRequestQuery::default());
        assert_eq!(kept.len(), FAILED_REQUESTS_MAX);
        assert_eq!(kept.first(), Some(&number), "the newest is kept");
    });
}
