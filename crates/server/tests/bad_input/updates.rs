//! PUT: values that were read can be written back, fields that cannot change may be sent unchanged, and an empty body
//! changes nothing (behaviour 7).

use serde_json::{Value, json};

use super::{Bench, names, on_bench};
use crate::support::{company_body, created, user_body};

/// The path of each object that can be changed.
fn paths(bench: &Bench<'_>) -> Vec<String> {
    let sample = &bench.sample;
    vec![
        format!("/v1/companies/{}", sample.company),
        format!("/v1/companies/{}/saml", sample.company),
        format!("/v1/corporations/{}", bench.corporation),
        format!("/v1/occasions/{}", sample.occasion),
        format!("/v1/users/{}", sample.users[0]),
        format!("/v1/users/{}", bench.owner),
    ]
}

#[test]
fn writing_read_values_back_changes_nothing() {
    on_bench(|bench| {
        let full = json!({"birthday": "02/29", "country_code": "deu", "work_start_date": "02/29/2020", "groups": " a ,b",
            "manager": true, "corporation_admin": true, "department": " x "});
        assert_eq!(bench.put(&format!("/v1/users/{}", bench.sample.users[0]), &full).status, 200);
        bench.unchanged(|| {
            for path in paths(bench) {
                let read = bench.get(&path);
                for body in [read.json(), json!({})] {
                    let written = bench.put(&path, &body);
                    assert_eq!(written.status, 200, "{path} {body}: {}", written.body);
                    assert_eq!(bench.get(&path).body, read.body, "{path} {body}");
                    for (name, value) in written.json().as_object().unwrap() {
                        assert_eq!(value, &read.json()[name], "{path} {name}");
                    }
                }
                for (name, value) in read.json().as_object().unwrap() {
                    let written = bench.put(&path, &json!({name: value}));
                    assert_eq!(written.status, 200, "{path} {name}: {}", written.body);
                }
            }
        });
    });
}

#[test]
fn unset_names_and_saml_can_be_written_back() {
    on_bench(|bench| {
        let mut body = company_body("single.example.com");
        body["owner_name"] = json!("Cher");
        let company = created(bench.post("/v1/companies", &body));
        let path = format!("/v1/companies/{company}");
        let owner = format!("/v1/users/{}", bench.get(&path).json()["owner_id"].as_str().unwrap());
        bench.unchanged(|| {
            for path in [path.clone(), format!("{path}/saml"), owner.clone()] {
                let read = bench.get(&path);
                let written = bench.put(&path, &read.json());
                assert_eq!(written.status, 200, "{path}: {}", written.body);
                assert_eq!(bench.get(&path).body, read.body, "{path}");
            }
            assert!(names(&bench.put(&owner, &json!({"last_name": null})).error(400), "last_name"));
        });
        let long = json!({"first_name": "x".repeat(255), "last_name": "y".repeat(255)});
        assert_eq!(bench.put(&owner, &long).status, 200);
        let read = bench.get(&path);
        assert_eq!(
            bench.put(&path, &read.json()).status,
            200,
            "a stored name longer than the limit is unchanged"
        );
        assert_eq!(bench.get(&path).body, read.body);
    });
}

#[test]
fn immutable_fields_accept_only_their_current_value() {
    on_bench(|bench| {
        let sample = &bench.sample;
        let second = created(bench.post("/v1/companies", &company_body("second.example.com")));
        let theirs = bench.service.provider("Theirs", true);
        let foreign =
            created(bench.service.post(&theirs, "/v1/companies", &company_body("foreign.example.com")));
        let company = format!("/v1/companies/{}", sample.company);
        let others = [format!("/v1/users/{}", sample.users[0]), format!("/v1/occasions/{}", sample.occasion)];
        bench.unchanged(|| {
            let check = |path: &str, field: &str, value: Value, status: u16| {
                let answer = bench.put(path, &json!({field: value}));
                assert_eq!(answer.status, status, "{path} {field} {value}: {}", answer.body);
                match status {
                    200 => assert_eq!(answer.header("x-ignored-fields"), None),
                    _ => assert!(names(&answer.error(status), field), "{}", answer.body),
                }
            };
            check(&company, "domain", json!(bench.domain), 200);
            for other in ["other.example.com", "second.example.com", "foreign.example.com"] {
                check(&company, "domain", json!(other), 400);
            }
            for path in &others {
                check(path, "company_id", json!(sample.company), 200);
                check(path, "company_id", json!(sample.company.to_uppercase()), 200);
                for other in [second.as_str(), &foreign, &bench.owner, "0193a5c0-0000-7000-8000-000000000001"]
                {
                    check(path, "company_id", json!(other), 400);
                }
            }
        });
    });
}

#[test]
fn one_invalid_field_prevents_all_changes() {
    on_bench(|bench| {
        for endpoint in bench.endpoints().iter().filter(|endpoint| endpoint.method == "PUT") {
            bench.unchanged(|| {
                for field in &endpoint.fields {
                    let bad = &field.kind.refused()[0];
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
                        let message = bench.send(endpoint, &body).error(400);
                        assert!(names(&message, field.name), "{body}: {message}");
                    }
                }
            });
        }
    });
}

#[test]
fn the_owner_stays_admin_until_ownership_moves() {
    on_bench(|bench| {
        let owner = format!("/v1/users/{}", bench.owner);
        bench.unchanged(|| {
            let message = bench.put(&owner, &json!({"company_admin": false, "title": "x"})).error(400);
            assert!(message.contains("owner") || names(&message, "company_admin"), "{message}");
            assert!(bench.call("DELETE", &owner, None).error(400).contains("owner"));
        });
        let heir = json!({"owner_email": "bob@zebra.example.com"});
        assert_eq!(bench.put(&format!("/v1/companies/{}", bench.sample.company), &heir).status, 200);
        assert_eq!(bench.put(&owner, &json!({"company_admin": false})).status, 200);
        assert_eq!(bench.call("DELETE", &owner, None).status, 204);
    });
}

#[test]
fn any_update_of_a_deleted_user_is_400() {
    on_bench(|bench| {
        let user = created(bench.post("/v1/users", &user_body(&bench.sample.company, "gone")));
        let path = format!("/v1/users/{user}");
        assert_eq!(bench.call("DELETE", &path, None).status, 204);
        bench.unchanged(|| {
            for body in [json!({}), json!({"title": "x"}), bench.get(&path).json()] {
                bench.put(&path, &body).error(400);
            }
            assert_eq!(bench.call("DELETE", &path, None).status, 204);
        });
    });
}
