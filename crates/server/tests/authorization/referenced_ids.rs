//! Ids in bodies and queries: the response is 403 for a foreign id, 404 for an absent id, and 400 for a malformed id.
//! The error names the field.

use serde_json::{Value, json};

use super::{ABSENT_ID, send_as_provider};
use crate::support::created_id;
use crate::support::fixture_templates::{for_each_fixture, for_each_fixture_pair};
use crate::support::provider_fixture::{self, ProviderFixture};
use crate::support::service::{ApiResponse, TestService};

/// A request in which one field names an object.
struct IdField {
    method: &'static str,
    path: &'static str,
    field: &'static str,
    body: Option<Value>,
}

impl IdField {
    fn send_with_id(&self, service: &TestService, fixture: &ProviderFixture, id: &str) -> ApiResponse {
        let body = self.body.clone().map(|mut body| {
            body[self.field] = json!(id);
            body
        });
        let query = if body.is_none() {
            format!("?{}={}", self.field, percent_encode_all(id))
        } else {
            String::new()
        };
        send_as_provider(
            service,
            fixture.provider(),
            self.method,
            &format!("{}{query}", self.path),
            body.as_ref(),
        )
    }
}

fn percent_encode_all(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

/// Every body field and query parameter that names an object, with the corresponding object of `other`.
fn id_fields<'a>(fixture: &ProviderFixture, other: &'a ProviderFixture) -> Vec<(IdField, &'a str)> {
    let sample = &fixture.sample;
    let (company, user) = (&sample.company, sample.users[0].as_str());
    let place = |method, path, field, body| IdField { method, path, field, body };
    let recognition = |path, kind, field| {
        let sender = if kind == "company" { company.as_str() } else { &sample.users[1] };
        place("POST", path, field, Some(sample.recognition_body(kind, sender, &[user], 1)))
    };
    let recognitions = ["/v1/recognitions", "/v1/recognitions/dry_run"].map(|path| {
        [
            (recognition(path, "company", "occasion_id"), other.sample.occasion.as_str()),
            (recognition(path, "company", "sender_id"), &other.sample.company),
            (recognition(path, "user", "sender_id"), &other.sample.users[0]),
            (recognition(path, "user", "receiver_ids"), &other.sample.users[0]),
        ]
    });
    let company_body =
        provider_fixture::marked_company_body("made", "made.example.com", &fixture.corporation);
    let others = [
        (place("POST", "/v1/companies", "corporation_id", Some(company_body)), other.corporation.as_str()),
        (place("GET", "/v1/companies", "corporation_id", None), &other.corporation),
        (
            place(
                "POST",
                "/v1/occasions",
                "company_id",
                Some(provider_fixture::marked_occasion_body(company, "made")),
            ),
            &other.sample.company,
        ),
        (
            place(
                "POST",
                "/v1/users",
                "company_id",
                Some(provider_fixture::marked_user_body(company, "made", "eve")),
            ),
            &other.sample.company,
        ),
    ];
    others.into_iter().chain(recognitions.into_iter().flatten()).collect()
}

#[test]
fn ids_in_bodies_and_queries_are_authorized_and_taken_domains_reveal_nothing() {
    for_each_fixture_pair(|service, mine, theirs| {
        let take_snapshots = || [mine.take_snapshot(service), theirs.take_snapshot(service)];
        let before = take_snapshots();
        check_foreign_and_absent_ids(service, mine, theirs);
        assert_eq!(take_snapshots(), before, "requests with foreign, absent and malformed ids");
        check_ids_of_other_kinds(service, mine, theirs);
        assert_eq!(take_snapshots(), before, "requests with ids of other kinds of objects");
        check_taken_domains(service, mine, theirs);
        assert_eq!(take_snapshots(), before, "requests with taken domains");
    });
}

/// Checks that ids in bodies and queries are authorized like ids in paths.
fn check_foreign_and_absent_ids(service: &TestService, mine: &ProviderFixture, theirs: &ProviderFixture) {
    for (place, foreign) in id_fields(mine, theirs) {
        let expect_refusal = |id: &str, status: u16| {
            let response = place.send_with_id(service, mine, id);
            assert_eq!(response.status, status, "{} {} {id:?}: {}", place.path, place.field, response.body);
            let message = response.expect_error(status);
            assert!(message.contains(place.field), "{}: {message}", place.field);
            theirs.assert_not_revealed(&response, id);
            message
        };
        let refusal = expect_refusal(foreign, 403);
        assert_eq!(expect_refusal(&foreign.to_uppercase(), 403), refusal);
        expect_refusal(ABSENT_ID, 404);
        expect_refusal("00000000-0000-0000-0000-000000000000", 404);
        for bad in [
            "x",
            " ",
            "0",
            &foreign.replace('-', ""),
            &format!("{{{foreign}}}"),
            &format!("urn:uuid:{foreign}"),
            &format!("{foreign}0"),
            &foreign[1..],
            &format!("{foreign}\0"),
            &format!("{foreign}\u{2003}x"),
        ] {
            expect_refusal(bad, 400);
        }
    }
}

#[test]
fn upper_case_ids_are_accepted_and_returned_in_lower_case() {
    for_each_fixture(|service, fixture| {
        for (place, own_id) in id_fields(fixture, fixture) {
            let own_id =
                if place.field == "sender_id" && place.body.as_ref().unwrap()["sender_type"] == "user" {
                    &fixture.sample.users[1] // the other one receives
                } else {
                    own_id
                };
            let response = place.send_with_id(service, fixture, &own_id.to_uppercase());
            assert!(
                matches!(response.status, 200 | 201),
                "{} {}: {}",
                place.path,
                place.field,
                response.body
            );
            assert!(!response.body.contains(&own_id.to_uppercase()), "{}", response.body);
        }
    });
}

/// Checks that an id of another kind of object is 404.
fn check_ids_of_other_kinds(service: &TestService, mine: &ProviderFixture, theirs: &ProviderFixture) {
    for (place, right) in id_fields(mine, theirs) {
        for fixture in [mine, theirs] {
            let kinds = [
                &fixture.sample.company,
                &fixture.sample.occasion,
                &fixture.corporation,
                &fixture.sample.users[0],
            ];
            let right_kind = kinds.iter().position(|id| *id == right);
            let right_kind = right_kind.or_else(|| {
                [
                    &theirs.sample.company,
                    &theirs.sample.occasion,
                    &theirs.corporation,
                    &theirs.sample.users[0],
                ]
                .iter()
                .position(|id| *id == right)
            });
            for (_, id) in kinds.iter().enumerate().filter(|(kind, _)| Some(*kind) != right_kind) {
                let message = place.send_with_id(service, mine, id).expect_error(404);
                assert!(message.contains(place.field), "{}: {message}", place.field);
            }
        }
    }
}

#[test]
fn one_foreign_receiver_among_a_hundred_refuses_the_request() {
    for_each_fixture_pair(|service, mine, theirs| {
        let sample = &mine.sample;
        let users: Vec<String> = (0..99)
            .map(|n| provider_fixture::marked_user_body(&sample.company, "mine", &format!("u{n}")))
            .map(|user| created_id(service.post(mine.provider(), "/v1/users", &user)))
            .collect();
        let before = [mine.take_snapshot(service), theirs.take_snapshot(service)];
        let send = |at: usize, id: &str, status: u16| {
            let mut receivers: Vec<&str> = users.iter().map(String::as_str).collect();
            receivers.insert(at, id);
            let response = sample.send_recognition(service, &sample.company, &receivers, 1);
            let message = response.expect_error(status);
            assert!(message.contains("receiver_ids"), "{message}");
            message
        };
        for (id, status) in [(theirs.sample.users[0].as_str(), 403), (ABSENT_ID, 404)] {
            let first = send(0, id, status);
            assert_eq!(send(50, id, status), first);
            assert_eq!(send(99, id, status), first);
        }
        assert_eq!([mine.take_snapshot(service), theirs.take_snapshot(service)], before);
    });
}

/// Checks that a taken domain does not reveal its provider.
fn check_taken_domains(service: &TestService, mine: &ProviderFixture, theirs: &ProviderFixture) {
    for domain in [theirs.domain.clone(), theirs.domain.to_uppercase()] {
        let body = provider_fixture::marked_company_body("mine", &domain, &mine.corporation);
        let response = service.post(mine.provider(), "/v1/companies", &body);
        assert_eq!(response.expect_error(400), "domain has already been taken");
        theirs.assert_not_revealed(&response, "");
    }
}

#[test]
fn a_supervisor_address_reveals_no_foreign_user() {
    for_each_fixture_pair(|service, mine, theirs| {
        let mut body = provider_fixture::marked_user_body(&mine.sample.company, "mine", "eve");
        body["supervisor_email"] = json!("ann@zebra.example.com");
        let before = theirs.take_snapshot(service);
        let user = service.post(mine.provider(), "/v1/users", &body);
        assert_eq!((user.status, &user.json()["supervisor_email"]), (201, &body["supervisor_email"]));
        theirs.assert_not_revealed(&user, &body.to_string());
        let counts =
            |picture: &[String]| picture.iter().filter(|line| line.starts_with("/v1")).cloned().collect();
        let (after, before): (Vec<String>, Vec<String>) =
            (counts(&theirs.take_snapshot(service)), counts(&before));
        assert_eq!(after, before);
    });
}
