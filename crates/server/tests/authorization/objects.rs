//! The object in the path: a foreign object is 403, an absent one 404, and the response reveals nothing about it.

use serde_json::{Value, json};

use super::{ABSENT, Row, call, rows, send};
use crate::support::on_each;
use crate::support::service::{Service, basic};
use crate::support::world::World;

fn with_object(world: &World) -> Vec<Row> {
    rows(world).into_iter().filter(|row| row.id().is_some()).collect()
}

#[test]
fn foreign_objects_are_403_and_reveal_nothing() {
    on_each(|service| {
        let world = World::make(service, "zebra");
        let strangers = [service.provider("Designated", true), service.provider("Undesignated", false)];
        let before = world.picture(service);
        for stranger in &strangers {
            let told_by = |method: &str, path: &str, body: Option<&str>| {
                let answer = send(service, Some(&basic(stranger)), method, path, body);
                assert_eq!(answer.status, 403, "{method} {path}: {}", answer.body);
                world.is_secret_in(&answer, path);
                answer
            };
            for row in with_object(&world) {
                let body = row.body.as_ref().map(ToString::to_string);
                let message = told_by(row.method, &row.path, body.as_deref()).error(403);
                assert!(!message.contains("designated"), "the object is checked first: {message}");
                if row.method == "PUT" {
                    for garbage in ["", "{", "[]", r#"{"name": 1}"#] {
                        told_by(row.method, &row.path, Some(garbage)).error(403); // checked before the body
                    }
                }
                if row.method == "GET" {
                    let with_bad_query = format!("{}?page=x&type=x", row.path.split('?').next().unwrap());
                    told_by("GET", &with_bad_query, None).error(403); // checked before the query
                    told_by("HEAD", &row.path, None);
                }
            }
            told_by("GET", &format!("/v1/companies/{}", world.domain), None);
            told_by("GET", &format!("/v1/companies/{}", world.domain.to_uppercase()), None);
        }
        assert_eq!(world.picture(service), before);
    });
}

#[test]
fn absent_objects_are_404() {
    on_each(|service| {
        let world = World::make(service, "zebra");
        let undesignated = service.provider("Undesignated", false);
        let before = world.picture(service);
        let kinds = [
            ("/v1/companies", &world.sample.company),
            ("/v1/corporations", &world.corporation),
            ("/v1/occasions", &world.sample.occasion),
            ("/v1/users", &world.owner),
        ];
        let absent = [
            ABSENT,
            "00000000-0000-0000-0000-000000000000",
            "ffffffff-ffff-ffff-ffff-ffffffffffff",
            "6fa459ea-ee8a-4ca4-894e-db77e160355e",
            "6FA459EA-EE8A-3CA4-894E-DB77E160355E",
        ];
        for row in with_object(&world) {
            for caller in [world.provider(), &undesignated] {
                for id in absent {
                    let answer = call(service, caller, row.method, &row.about(id), row.body.as_ref());
                    assert_eq!(answer.status, 404, "{} {}: {}", row.method, row.about(id), answer.body);
                    answer.error(404);
                }
            }
            for (kind, id) in kinds.iter().filter(|(kind, _)| !row.pattern.starts_with(kind)) {
                for caller in [world.provider(), &undesignated] {
                    let answer = call(service, caller, row.method, &row.about(id), row.body.as_ref());
                    assert_eq!(answer.status, 404, "{} {} is in {kind}", row.method, row.about(id));
                }
            }
        }
        call(service, world.provider(), "GET", "/v1/companies/absent.example.com", None).error(404);
        assert_eq!(world.picture(service), before);
    });
}

/// Values that can be mistaken for an id.
fn malformed(id: &str) -> Vec<String> {
    let bare = id.replace('-', "");
    let mut forms = vec![
        bare.clone(),
        format!("{bare}0000"),
        id[1..].to_owned(),
        id[..35].to_owned(),
        format!("{id}0"),
        format!("{id}-"),
        id.replace('-', "_"),
        format!("{}-{}", &bare[..16], &bare[16..]),
        format!("{}g", &id[..35]),
        "-".repeat(36),
        "x".repeat(36),
        "%EF%BC%90".to_owned() + &id[1..],
        "%C3%A9".to_owned(),
        "%ff".to_owned(),
        "0".to_owned(),
        "null".to_owned(),
        "undefined".to_owned(),
        "*".to_owned(),
        "%25".to_owned(),
        "'%20OR%201=1--".to_owned(),
        "%00".to_owned(),
        "%20".to_owned(),
        "..%2f".to_owned(),
        "..%2f..%2fcompanies".to_owned(),
        "%2e%2e%2f".to_owned(),
    ];
    for (before, after) in [
        ("%7B", "%7D"),
        ("urn:uuid:", ""),
        ("", "%00"),
        ("%00", ""),
        ("", "%20"),
        ("%20", ""),
        ("", "%0A"),
        ("..%2f", ""),
        (".%2f", ""),
        ("", "%2f"),
        ("", "%2f.."),
        ("%22", "%22"),
        ("", ";x"),
        ("", ","),
    ] {
        forms.push(format!("{before}{id}{after}"));
    }
    forms
}

#[test]
fn a_malformed_id_in_a_path_is_404() {
    on_each(|service| {
        let world = World::make(service, "zebra");
        let before = world.picture(service);
        for row in with_object(&world) {
            for form in malformed(row.id().unwrap()) {
                let path = row.about(&form);
                let answer = call(service, world.provider(), row.method, &path, row.body.as_ref());
                assert_eq!(answer.status, 404, "{} {path}: {}", row.method, answer.body);
                answer.error(404);
            }
            let slash = row.path.split('?').next().unwrap().to_owned() + "/";
            call(service, world.provider(), row.method, &slash, row.body.as_ref()).error(404);
        }
        assert_eq!(world.picture(service), before);
    });
}

#[test]
fn an_id_in_upper_case_names_the_same_object() {
    on_each(|service| {
        let world = World::make(service, "zebra");
        for row in with_object(&world) {
            let upper = row.about(&row.id().unwrap().to_uppercase());
            let body = match row.method {
                "PUT" => Some(json!({})),
                _ => row.body.clone(),
            };
            let answer = call(service, world.provider(), row.method, &upper, body.as_ref());
            assert_eq!(answer.status, row.success(), "{} {upper}: {}", row.method, answer.body);
            if row.method == "GET" {
                assert_eq!(answer.body, call(service, world.provider(), "GET", &row.path, None).body);
            }
            assert!(!answer.body.contains(&row.id().unwrap().to_uppercase()), "{}", answer.body);
        }
    });
}

#[test]
fn a_deleted_user_is_still_shown_and_never_changed() {
    on_each(|service| {
        let world = World::make(service, "zebra");
        let (stranger, gone) = (service.provider("Stranger", true), &world.spare_user);
        let path = format!("/v1/users/{gone}");
        assert_eq!(service.delete(world.provider(), &path).status, 204);
        let before = world.picture(service);
        for row in with_object(&world).iter().filter(|row| row.pattern.starts_with("/v1/users")) {
            let answer = call(service, world.provider(), row.method, &row.about(gone), row.body.as_ref());
            let expected = if row.method == "PUT" { 400 } else { row.success() };
            assert_eq!(answer.status, expected, "{} {}: {}", row.method, row.pattern, answer.body);
            let answer = call(service, &stranger, row.method, &row.about(gone), row.body.as_ref());
            answer.error(403);
            world.is_secret_in(&answer, &row.about(gone));
        }
        assert!(service.get(world.provider(), &path).json()["deleted_at"].is_string());
        for sender in [false, true] {
            let (from, to) =
                if sender { (gone, &world.sample.users[0]) } else { (&world.sample.users[0], gone) };
            let message = world.sample.send(service, from, &[to], 1).error(400);
            assert!(message.contains(if sender { "sender_id" } else { "receiver_ids" }), "{message}");
        }
        assert_eq!(world.picture(service), before);
    });
}

#[test]
fn a_deleted_occasion_does_not_exist() {
    on_each(|service| {
        let world = World::make(service, "zebra");
        let (stranger, gone) = (service.provider("Stranger", true), &world.spare_occasion);
        assert_eq!(service.delete(world.provider(), &format!("/v1/occasions/{gone}")).status, 204);
        let before = world.picture(service);
        for row in with_object(&world).iter().filter(|row| row.pattern.starts_with("/v1/occasions")) {
            for caller in [world.provider(), &stranger] {
                call(service, caller, row.method, &row.about(gone), row.body.as_ref()).error(404);
            }
        }
        let sample = &world.sample;
        let mut body = sample.recognition("company", &sample.company, &[&sample.users[0]], 1);
        body["occasion_id"] = json!(gone);
        let message = service.post(world.provider(), "/v1/recognitions", &body).error(404);
        assert!(message.contains("occasion_id"), "{message}");
        let list = service.get(world.provider(), &format!("/v1/companies/{}/occasions", sample.company));
        assert!(!list.body.contains(gone.as_str()), "{}", list.body);
        assert_eq!(world.picture(service), before);
    });
}

/// Creates a global occasion.
fn global_occasion(service: &Service) -> String {
    let words = ["--name", "Global", "--title", "For all", "--default-message", "Hello"];
    let made = service.json(&[["occasion", "create-global"].as_slice(), &words].concat());
    made["id"].as_str().unwrap().to_owned()
}

#[test]
fn every_provider_may_use_and_none_may_change_a_global_occasion() {
    on_each(|service| {
        let world = World::make(service, "zebra");
        let undesignated = service.provider("Undesignated", false);
        let global = global_occasion(service);
        let path = format!("/v1/occasions/{global}");
        let shown = service.get(world.provider(), &path);
        assert_eq!(shown.status, 200);
        let json = shown.json();
        assert_eq!((&json["company_id"], &json["global"]), (&Value::Null, &json!(true)));
        let before = world.picture(service);
        for caller in [world.provider(), &undesignated] {
            assert_eq!(service.get(caller, &path).body, shown.body);
            for body in [json!({"title": "Mine"}), json!({}), json!({"name": 1})] {
                service.put(caller, &path, &body).error(403);
            }
            service.delete(caller, &path).error(403);
        }
        assert_eq!(world.picture(service), before);
        let sample = &world.sample;
        let list =
            service.get(world.provider(), &format!("/v1/companies/{}/occasions", sample.company)).json();
        assert_eq!(list["total_count"], 3);
        assert!(list["results"].as_array().unwrap().contains(&json));
        let mut body = sample.recognition("company", &sample.company, &[&sample.users[0]], 1);
        body["occasion_id"] = json!(global);
        assert_eq!(service.post(world.provider(), "/v1/recognitions", &body).status, 201);
    });
}
