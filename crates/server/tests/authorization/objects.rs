//! The object in the path: the response is 403 for a foreign object and 404 for an absent object, and reveals nothing
//! about the object.

use serde_json::{Value, json};

use super::{ABSENT_ID, RouteRequest, list_requests, send_as_provider, send_request};
use crate::support::fixture_templates::for_each_fixture;
use crate::support::provider_fixture::ProviderFixture;
use crate::support::service::{ProviderCredentials, TestService, basic_authorization};

fn with_path_id(fixture: &ProviderFixture) -> Vec<RouteRequest> {
    list_requests(fixture).into_iter().filter(|row| row.path_id().is_some()).collect()
}

#[test]
fn foreign_absent_and_malformed_ids_are_refused() {
    for_each_fixture(|service, fixture| {
        let strangers =
            [service.create_provider("Designated", true), service.create_provider("Undesignated", false)];
        let before = fixture.take_snapshot(service);
        check_foreign_objects(service, fixture, &strangers);
        assert_eq!(fixture.take_snapshot(service), before, "requests for foreign objects");
        check_absent_objects(service, fixture, &strangers[1]);
        assert_eq!(fixture.take_snapshot(service), before, "requests for absent objects");
        check_malformed_ids(service, fixture);
        assert_eq!(fixture.take_snapshot(service), before, "requests with malformed ids");
    });
}

/// Checks that foreign objects are 403 for a designated and an undesignated provider, and that nothing is revealed.
fn check_foreign_objects(
    service: &TestService,
    fixture: &ProviderFixture,
    strangers: &[ProviderCredentials; 2],
) {
    for stranger in strangers {
        let send_checked = |method: &str, path: &str, body: Option<&str>| {
            let response = send_request(service, Some(&basic_authorization(stranger)), method, path, body);
            assert_eq!(response.status, 403, "{method} {path}: {}", response.body);
            fixture.assert_not_revealed(&response, path);
            response
        };
        for row in with_path_id(fixture) {
            let body = row.body.as_ref().map(ToString::to_string);
            let message = send_checked(row.method, &row.path, body.as_deref()).expect_error(403);
            assert!(!message.contains("designated"), "the object is checked first: {message}");
            if row.method == "PUT" {
                for garbage in ["", "{", "[]", r#"{"name": 1}"#] {
                    send_checked(row.method, &row.path, Some(garbage)).expect_error(403); // checked before the body
                }
            }
            if row.method == "GET" {
                let with_bad_query = format!("{}?page=x&type=x", row.path.split('?').next().unwrap());
                send_checked("GET", &with_bad_query, None).expect_error(403); // checked before the query
                send_checked("HEAD", &row.path, None);
            }
        }
        send_checked("GET", &format!("/v1/companies/{}", fixture.domain), None);
        send_checked("GET", &format!("/v1/companies/{}", fixture.domain.to_uppercase()), None);
    }
}

/// Checks that absent objects are 404, also for an undesignated provider.
fn check_absent_objects(
    service: &TestService,
    fixture: &ProviderFixture,
    undesignated: &ProviderCredentials,
) {
    let kinds = [
        ("/v1/companies", &fixture.sample.company),
        ("/v1/corporations", &fixture.corporation),
        ("/v1/occasions", &fixture.sample.occasion),
        ("/v1/users", &fixture.owner),
    ];
    let absent = [
        ABSENT_ID,
        "00000000-0000-0000-0000-000000000000",
        "ffffffff-ffff-ffff-ffff-ffffffffffff",
        "6fa459ea-ee8a-4ca4-894e-db77e160355e",
        "6FA459EA-EE8A-3CA4-894E-DB77E160355E",
    ];
    for row in with_path_id(fixture) {
        for caller in [fixture.provider(), undesignated] {
            for id in absent {
                let response =
                    send_as_provider(service, caller, row.method, &row.path_for_id(id), row.body.as_ref());
                assert_eq!(response.status, 404, "{} {}: {}", row.method, row.path_for_id(id), response.body);
                response.expect_error(404);
            }
        }
        for (kind, id) in kinds.iter().filter(|(kind, _)| !row.pattern.starts_with(kind)) {
            for caller in [fixture.provider(), undesignated] {
                let response =
                    send_as_provider(service, caller, row.method, &row.path_for_id(id), row.body.as_ref());
                assert_eq!(response.status, 404, "{} {} is in {kind}", row.method, row.path_for_id(id));
            }
        }
    }
    send_as_provider(service, fixture.provider(), "GET", "/v1/companies/absent.example.com", None)
        .expect_error(404);
}

/// Values that can be mistaken for an id.
fn malformed_ids(id: &str) -> Vec<String> {
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

/// Checks that a malformed id in a path is 404.
fn check_malformed_ids(service: &TestService, fixture: &ProviderFixture) {
    for row in with_path_id(fixture) {
        for form in malformed_ids(row.path_id().unwrap()) {
            let path = row.path_for_id(&form);
            let response =
                send_as_provider(service, fixture.provider(), row.method, &path, row.body.as_ref());
            assert_eq!(response.status, 404, "{} {path}: {}", row.method, response.body);
            response.expect_error(404);
        }
        let slash = row.path.split('?').next().unwrap().to_owned() + "/";
        send_as_provider(service, fixture.provider(), row.method, &slash, row.body.as_ref())
            .expect_error(404);
    }
}

#[test]
fn an_id_in_upper_case_names_the_same_object() {
    for_each_fixture(|service, fixture| {
        for row in with_path_id(fixture) {
            let upper = row.path_for_id(&row.path_id().unwrap().to_uppercase());
            let body = match row.method {
                "PUT" => Some(json!({})),
                _ => row.body.clone(),
            };
            let response = send_as_provider(service, fixture.provider(), row.method, &upper, body.as_ref());
            assert_eq!(response.status, row.success_status(), "{} {upper}: {}", row.method, response.body);
            if row.method == "GET" {
                assert_eq!(
                    response.body,
                    send_as_provider(service, fixture.provider(), "GET", &row.path, None).body
                );
            }
            assert!(!response.body.contains(&row.path_id().unwrap().to_uppercase()), "{}", response.body);
        }
    });
}

#[test]
fn a_deleted_user_is_still_shown_and_never_changed() {
    for_each_fixture(|service, fixture| {
        let (stranger, gone) = (service.create_provider("Stranger", true), &fixture.spare_user);
        let path = format!("/v1/users/{gone}");
        assert_eq!(service.delete(fixture.provider(), &path).status, 204);
        let before = fixture.take_snapshot(service);
        for row in with_path_id(fixture).iter().filter(|row| row.pattern.starts_with("/v1/users")) {
            let response = send_as_provider(
                service,
                fixture.provider(),
                row.method,
                &row.path_for_id(gone),
                row.body.as_ref(),
            );
            let expected = if row.method == "PUT" { 400 } else { row.success_status() };
            assert_eq!(response.status, expected, "{} {}: {}", row.method, row.pattern, response.body);
            let response =
                send_as_provider(service, &stranger, row.method, &row.path_for_id(gone), row.body.as_ref());
            response.expect_error(403);
            fixture.assert_not_revealed(&response, &row.path_for_id(gone));
        }
        assert!(service.get(fixture.provider(), &path).json()["deleted_at"].is_string());
        for sender in [false, true] {
            let (from, to) =
                if sender { (gone, &fixture.sample.users[0]) } else { (&fixture.sample.users[0], gone) };
            let message = fixture.sample.send_recognition(service, from, &[to], 1).expect_error(400);
            assert!(message.contains(if sender { "sender_id" } else { "receiver_ids" }), "{message}");
        }
        assert_eq!(fixture.take_snapshot(service), before);
    });
}

#[test]
fn a_deleted_occasion_does_not_exist() {
    for_each_fixture(|service, fixture| {
        let (stranger, gone) = (service.create_provider("Stranger", true), &fixture.spare_occasion);
        assert_eq!(service.delete(fixture.provider(), &format!("/v1/occasions/{gone}")).status, 204);
        let before = fixture.take_snapshot(service);
        for row in with_path_id(fixture).iter().filter(|row| row.pattern.starts_with("/v1/occasions")) {
            for caller in [fixture.provider(), &stranger] {
                send_as_provider(service, caller, row.method, &row.path_for_id(gone), row.body.as_ref())
                    .expect_error(404);
            }
        }
        let sample = &fixture.sample;
        let mut body = sample.recognition_body("company", &sample.company, &[&sample.users[0]], 1);
        body["occasion_id"] = json!(gone);
        let message = service.post(fixture.provider(), "/v1/recognitions", &body).expect_error(404);
        assert!(message.contains("occasion_id"), "{message}");
        let list = service.get(fixture.provider(), &format!("/v1/companies/{}/occasions", sample.company));
        assert!(!list.body.contains(gone.as_str()), "{}", list.body);
        assert_eq!(fixture.take_snapshot(service), before);
    });
}

/// Creates a global occasion.
fn create_global_occasion(service: &TestService) -> String {
    let words = ["--name", "Global", "--title", "For all", "--default-message", "Hello"];
    let occasion = service.run_json_command(&[["occasion", "create-global"].as_slice(), &words].concat());
    occasion["id"].as_str().unwrap().to_owned()
}

#[test]
fn every_provider_may_use_and_none_may_change_a_global_occasion() {
    for_each_fixture(|service, fixture| {
        let undesignated = service.create_provider("Undesignated", false);
        let global = create_global_occasion(service);
        let path = format!("/v1/occasions/{global}");
        let shown = service.get(fixture.provider(), &path);
        assert_eq!(shown.status, 200);
        let json = shown.json();
        assert_eq!((&json["company_id"], &json["global"]), (&Value::Null, &json!(true)));
        let before = fixture.take_snapshot(service);
        for caller in [fixture.provider(), &undesignated] {
            assert_eq!(service.get(caller, &path).body, shown.body);
            for body in [json!({"title": "Mine"}), json!({}), json!({"name": 1})] {
                service.put(caller, &path, &body).expect_error(403);
            }
            service.delete(caller, &path).expect_error(403);
        }
        assert_eq!(fixture.take_snapshot(service), before);
        let sample = &fixture.sample;
        let list =
            service.get(fixture.provider(), &format!("/v1/companies/{}/occasions", sample.company)).json();
        assert_eq!(list["total_count"], 3);
        assert!(list["results"].as_array().unwrap().contains(&json));
        let mut body = sample.recognition_body("company", &sample.company, &[&sample.users[0]], 1);
        body["occasion_id"] = json!(global);
        assert_eq!(service.post(fixture.provider(), "/v1/recognitions", &body).status, 201);
    });
}
