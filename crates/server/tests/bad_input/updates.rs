//! PUT: values that were read can be written back, fields that cannot change may be sent unchanged, and an empty body
//! changes nothing (behaviour 7).

use serde_json::{Value, json};

use super::{InputFixture, for_each_input_fixture, reports_field};
use crate::support::{company_body, created_id, user_body};

/// The path of each object that can be changed.
fn updatable_paths(fixture: &InputFixture<'_>) -> Vec<String> {
    let sample = &fixture.sample;
    vec![
        format!("/v1/companies/{}", sample.company),
        format!("/v1/companies/{}/saml", sample.company),
        format!("/v1/corporations/{}", fixture.corporation),
        format!("/v1/occasions/{}", sample.occasion),
        format!("/v1/users/{}", sample.users[0]),
        format!("/v1/users/{}", fixture.owner),
    ]
}

#[test]
fn writing_read_values_back_changes_nothing() {
    for_each_input_fixture(|fixture| {
        let full = json!({"birthday": "02/29", "country_code": "deu", "work_start_date": "02/29/2020", "groups": " a ,b",
            "manager": true, "corporation_admin": true, "department": " x "});
        assert_eq!(fixture.put(&format!("/v1/users/{}", fixture.sample.users[0]), &full).status, 200);
        fixture.assert_nothing_changes(|| {
            for path in updatable_paths(fixture) {
                let read = fixture.get(&path);
                for body in [read.json(), json!({})] {
                    let written = fixture.put(&path, &body);
                    assert_eq!(written.status, 200, "{path} {body}: {}", written.body);
                    assert_eq!(fixture.get(&path).body, read.body, "{path} {body}");
                    for (name, value) in written.json().as_object().unwrap() {
                        assert_eq!(value, &read.json()[name], "{path} {name}");
                    }
                }
                for (name, value) in read.json().as_object().unwrap() {
                    let written = fixture.put(&path, &json!({name: value}));
                    assert_eq!(written.status, 200, "{path} {name}: {}", written.body);
                }
            }
        });
    });
}

#[test]
fn unset_names_and_saml_can_be_written_back() {
    for_each_input_fixture(|fixture| {
        let mut body = company_body("single.example.com");
        body["owner_name"] = json!("Cher");
        let company = created_id(fixture.post("/v1/companies", &body));
        let path = format!("/v1/companies/{company}");
        let owner = format!("/v1/users/{}", fixture.get(&path).json()["owner_id"].as_str().unwrap());
        fixture.assert_nothing_changes(|| {
            for path in [path.clone(), format!("{path}/saml"), owner.clone()] {
                let read = fixture.get(&path);
                let written = fixture.put(&path, &read.json());
                assert_eq!(written.status, 200, "{path}: {}", written.body);
                assert_eq!(fixture.get(&path).body, read.body, "{path}");
            }
            assert!(reports_field(
                &fixture.put(&owner, &json!({"last_name": null})).expect_error(400),
                "last_name"
            ));
        });
        let long = json!({"first_name": "x".repeat(255), "last_name": "y".repeat(255)});
        assert_eq!(fixture.put(&owner, &long).status, 200);
        let read = fixture.get(&path);
        assert_eq!(
            fixture.put(&path, &read.json()).status,
            200,
            "a stored name longer than the limit is unchanged"
        );
        assert_eq!(fixture.get(&path).body, read.body);
    });
}

#[test]
fn immutable_fields_accept_only_their_current_value() {
    for_each_input_fixture(|fixture| {
        let sample = &fixture.sample;
        let second = created_id(fixture.post("/v1/companies", &company_body("second.example.com")));
        let theirs = fixture.service.create_provider("Theirs", true);
        let foreign =
            created_id(fixture.service.post(&theirs, "/v1/companies", &company_body("foreign.example.com")));
        let company = format!("/v1/companies/{}", sample.company);
        let others = [format!("/v1/users/{}", sample.users[0]), format!("/v1/occasions/{}", sample.occasion)];
        fixture.assert_nothing_changes(|| {
            let check = |path: &str, field: &str, value: Value, status: u16| {
                let response = fixture.put(path, &json!({field: value}));
                assert_eq!(response.status, status, "{path} {field} {value}: {}", response.body);
                match status {
                    200 => assert_eq!(response.header("x-ignored-fields"), None),
                    _ => assert!(reports_field(&response.expect_error(status), field), "{}", response.body),
                }
            };
            check(&company, "domain", json!(fixture.domain), 200);
            for other in ["other.example.com", "second.example.com", "foreign.example.com"] {
                check(&company, "domain", json!(other), 400);
            }
            for path in &others {
                check(path, "company_id", json!(sample.company), 200);
                check(path, "company_id", json!(sample.company.to_uppercase()), 200);
                for other in
                    [second.as_str(), &foreign, &fixture.owner, "0193a5c0-0000-7000-8000-000000000001"]
                {
                    check(path, "company_id", json!(other), 400);
                }
            }
        });
    });
}

#[test]
fn one_invalid_field_prevents_all_changes() {
    for_each_input_fixture(|fixture| {
        fixture.assert_nothing_changes(|| {
            for endpoint in fixture.endpoints().iter().filter(|endpoint| endpoint.method == "PUT") {
                for field in &endpoint.fields {
                    let bad = &field.kind.refused_values()[0];
                    for (name, good) in [
                        ("name", "Changed"),
                        ("company_name", "Changed"),
                        ("title", "Changed"),
                        ("idp_id", "changed"),
                        ("first_name", "Changed"),
                        ("owner_name", "Changed Name"),
                        ("owner_email", "changed@example.com"),
                    ] {
                        if name == field.name {
                            continue;
                        }
                        let body = format!("{{\"{name}\":\"{good}\",\"{}\":{bad}}}", field.name);
                        let message = fixture.send_to_endpoint(endpoint, &body).expect_error(400);
                        assert!(reports_field(&message, field.name), "{body}: {message}");
                    }
                }
            }
        });
    });
}

#[test]
fn the_owner_stays_admin_until_ownership_moves() {
    for_each_input_fixture(|fixture| {
        let owner = format!("/v1/users/{}", fixture.owner);
        fixture.assert_nothing_changes(|| {
            let message =
                fixture.put(&owner, &json!({"company_admin": false, "title": "x"})).expect_error(400);
            assert!(message.contains("owner") || reports_field(&message, "company_admin"), "{message}");
            assert!(fixture.send_request("DELETE", &owner, None).expect_error(400).contains("owner"));
        });
        let heir = json!({"owner_email": "bob@zebra.example.com"});
        assert_eq!(fixture.put(&format!("/v1/companies/{}", fixture.sample.company), &heir).status, 200);
        assert_eq!(fixture.put(&owner, &json!({"company_admin": false})).status, 200);
        assert_eq!(fixture.send_request("DELETE", &owner, None).status, 204);
    });
}

#[test]
fn any_update_of_a_deleted_user_is_400() {
    for_each_input_fixture(|fixture| {
        let user = created_id(fixture.post("/v1/users", &user_body(&fixture.sample.company, "gone")));
        let path = format!("/v1/users/{user}");
        assert_eq!(fixture.send_request("DELETE", &path, None).status, 204);
        fixture.assert_nothing_changes(|| {
            for body in [json!({}), json!({"title": "x"}), fixture.get(&path).json()] {
                fixture.put(&path, &body).expect_error(400);
            }
            assert_eq!(fixture.send_request("DELETE", &path, None).status, 204);
        });
    });
}
