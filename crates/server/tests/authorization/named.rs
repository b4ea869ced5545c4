//! Ids in bodies and queries: a foreign id is 403, an absent id 404, a malformed id 400. The error names the field.

use serde_json::{Value, json};

use super::{ABSENT, call};
use crate::support::service::{Answer, Service};
use crate::support::world::{self, World};
use crate::support::{created, on_each};

/// A request in which one field names an object.
struct Named {
    method: &'static str,
    path: &'static str,
    field: &'static str,
    body: Option<Value>,
}

impl Named {
    fn ask(&self, service: &Service, world: &World, id: &str) -> Answer {
        let body = self.body.clone().map(|mut body| {
            body[self.field] = json!(id);
            body
        });
        let query = if body.is_none() { format!("?{}={}", self.field, encoded(id)) } else { String::new() };
        call(service, world.provider(), self.method, &format!("{}{query}", self.path), body.as_ref())
    }
}

fn encoded(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

/// Every body field and query parameter that names an object, with the corresponding object of `other`.
fn places<'a>(world: &World, other: &'a World) -> Vec<(Named, &'a str)> {
    let sample = &world.sample;
    let (company, user) = (&sample.company, sample.users[0].as_str());
    let place = |method, path, field, body| Named { method, path, field, body };
    let recognition = |kind, field| {
        let sender = if kind == "company" { company.as_str() } else { &sample.users[1] };
        place("POST", "/v1/recognitions", field, Some(sample.recognition(kind, sender, &[user], 1)))
    };
    let made = world::company("made", "made.example.com", &world.corporation);
    vec![
        (place("POST", "/v1/companies", "corporation_id", Some(made)), &other.corporation),
        (place("GET", "/v1/companies", "corporation_id", None), &other.corporation),
        (
            place("POST", "/v1/occasions", "company_id", Some(world::occasion(company, "made"))),
            &other.sample.company,
        ),
        (
            place("POST", "/v1/users", "company_id", Some(world::user(company, "made", "eve"))),
            &other.sample.company,
        ),
        (recognition("company", "occasion_id"), &other.sample.occasion),
        (recognition("company", "sender_id"), &other.sample.company),
        (recognition("user", "sender_id"), &other.sample.users[0]),
        (recognition("user", "receiver_ids"), &other.sample.users[0]),
    ]
}

#[test]
fn ids_in_bodies_and_queries_are_authorized_like_ids_in_paths() {
    on_each(|service| {
        let (mine, theirs) = (World::make(service, "mine"), World::make(service, "zebra"));
        let before = [mine.picture(service), theirs.picture(service)];
        for (place, foreign) in places(&mine, &theirs) {
            let told = |id: &str, status: u16| {
                let answer = place.ask(service, &mine, id);
                assert_eq!(answer.status, status, "{} {} {id:?}: {}", place.path, place.field, answer.body);
                let message = answer.error(status);
                assert!(message.contains(place.field), "{}: {message}", place.field);
                theirs.is_secret_in(&answer, id);
                message
            };
            let refusal = told(foreign, 403);
            assert_eq!(told(&foreign.to_uppercase(), 403), refusal);
            told(ABSENT, 404);
            told("00000000-0000-0000-0000-000000000000", 404);
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
                told(bad, 400);
            }
        }
        assert_eq!([mine.picture(service), theirs.picture(service)], before);
    });
}

#[test]
fn upper_case_ids_are_accepted_and_returned_in_lower_case() {
    on_each(|service| {
        let world = World::make(service, "mine");
        for (place, own) in places(&world, &world) {
            let own = if place.field == "sender_id" && place.body.as_ref().unwrap()["sender_type"] == "user" {
                &world.sample.users[1] // the other one receives
            } else {
                own
            };
            let answer = place.ask(service, &world, &own.to_uppercase());
            assert!(matches!(answer.status, 200 | 201), "{} {}: {}", place.path, place.field, answer.body);
            assert!(!answer.body.contains(&own.to_uppercase()), "{}", answer.body);
        }
    });
}

#[test]
fn an_id_of_another_kind_of_object_is_404() {
    on_each(|service| {
        let (mine, theirs) = (World::make(service, "mine"), World::make(service, "zebra"));
        let before = [mine.picture(service), theirs.picture(service)];
        for (place, right) in places(&mine, &theirs) {
            for world in [&mine, &theirs] {
                let kinds = [
                    &world.sample.company,
                    &world.sample.occasion,
                    &world.corporation,
                    &world.sample.users[0],
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
                    let message = place.ask(service, &mine, id).error(404);
                    assert!(message.contains(place.field), "{}: {message}", place.field);
                }
            }
        }
        assert_eq!([mine.picture(service), theirs.picture(service)], before);
    });
}

#[test]
fn one_foreign_receiver_among_a_hundred_refuses_the_request() {
    on_each(|service| {
        let (mine, theirs) = (World::make(service, "mine"), World::make(service, "zebra"));
        let sample = &mine.sample;
        let users: Vec<String> = (0..99)
            .map(|n| world::user(&sample.company, "mine", &format!("u{n}")))
            .map(|user| created(service.post(mine.provider(), "/v1/users", &user)))
            .collect();
        let before = [mine.picture(service), theirs.picture(service)];
        let send = |at: usize, id: &str, status: u16| {
            let mut receivers: Vec<&str> = users.iter().map(String::as_str).collect();
            receivers.insert(at, id);
            let answer = sample.send(service, &sample.company, &receivers, 1);
            let message = answer.error(status);
            assert!(message.contains("receiver_ids"), "{message}");
            message
        };
        for (id, status) in [(theirs.sample.users[0].as_str(), 403), (ABSENT, 404)] {
            let first = send(0, id, status);
            assert_eq!(send(50, id, status), first);
            assert_eq!(send(99, id, status), first);
        }
        assert_eq!([mine.picture(service), theirs.picture(service)], before);
    });
}

#[test]
fn a_taken_domain_does_not_reveal_its_provider() {
    on_each(|service| {
        let (mine, theirs) = (World::make(service, "mine"), World::make(service, "zebra"));
        let before = [mine.picture(service), theirs.picture(service)];
        for domain in [theirs.domain.clone(), theirs.domain.to_uppercase()] {
            let body = world::company("mine", &domain, &mine.corporation);
            let answer = service.post(mine.provider(), "/v1/companies", &body);
            assert_eq!(answer.error(400), "domain has already been taken");
            theirs.is_secret_in(&answer, "");
        }
        assert_eq!([mine.picture(service), theirs.picture(service)], before);
    });
}

#[test]
fn a_supervisor_address_reveals_no_foreign_user() {
    on_each(|service| {
        let (mine, theirs) = (World::make(service, "mine"), World::make(service, "zebra"));
        let mut body = world::user(&mine.sample.company, "mine", "eve");
        body["supervisor_email"] = json!("ann@zebra.example.com");
        let before = theirs.picture(service);
        let made = service.post(mine.provider(), "/v1/users", &body);
        assert_eq!((made.status, &made.json()["supervisor_email"]), (201, &body["supervisor_email"]));
        theirs.is_secret_in(&made, &body.to_string());
        let counts =
            |picture: &[String]| picture.iter().filter(|line| line.starts_with("/v1")).cloned().collect();
        let (after, before): (Vec<String>, Vec<String>) = (counts(&theirs.picture(service)), counts(&before));
        assert_eq!(after, before);
    });
}
