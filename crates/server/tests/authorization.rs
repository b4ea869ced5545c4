//! Who may call what: every route without credentials, with wrong ones, suspended, undesignated, foreign, absent.

use serde_json::{Value, json};

use crate::support::service::{Answer, Provider, Service, basic};
use crate::support::{Sample, company_body, occasion_body, on_each, user_body};

const ABSENT: &str = "0193a5c0-0000-7000-8000-000000000001";

/// One request to each route, about the objects of `sample`.
fn requests(sample: &Sample) -> Vec<(&'static str, &'static str, String, Option<Value>)> {
    let (company, occasion, user) = (&sample.company, &sample.occasion, &sample.users[0]);
    let body = sample.recognition("company", company, &[user], 1);
    vec![
        ("POST", "/v1/companies", "/v1/companies".into(), Some(company_body("another.example.com"))),
        ("GET", "/v1/companies/{id}", format!("/v1/companies/{company}"), None),
        ("POST", "/v1/occasions", "/v1/occasions".into(), Some(occasion_body(company))),
        ("GET", "/v1/occasions/{id}", format!("/v1/occasions/{occasion}"), None),
        ("POST", "/v1/recognitions", "/v1/recognitions".into(), Some(body)),
        ("POST", "/v1/users", "/v1/users".into(), Some(user_body(company, "new"))),
        ("GET", "/v1/users/{id}", format!("/v1/users/{user}"), None),
        ("DELETE", "/v1/users/{id}", format!("/v1/users/{user}"), None),
        ("GET", "/v1/users/{id}/balances", format!("/v1/users/{user}/balances"), None),
        (
            "GET",
            "/v1/users/{id}/transactions",
            format!("/v1/users/{user}/transactions?type=peer_wallet"),
            None,
        ),
    ]
}

fn call(
    service: &Service,
    authorization: Option<&str>,
    method: &str,
    path: &str,
    body: Option<&Value>,
) -> Answer {
    let headers: Vec<(&str, &str)> = authorization.map(|it| ("Authorization", it)).into_iter().collect();
    let body = body.map(Value::to_string);
    service.running.request(method, path, &headers, body.as_deref())
}

#[test]
fn every_route_of_the_service_has_its_row_here() {
    let sample = Sample {
        provider: Provider { id: String::new(), api_key: String::new(), api_secret: String::new() },
        company: ABSENT.into(),
        occasion: ABSENT.into(),
        users: vec![ABSENT.into()],
    };
    let mut rows: Vec<(String, String)> =
        requests(&sample).iter().map(|it| (it.0.to_owned(), it.1.to_owned())).collect();
    let mut routes: Vec<(String, String)> =
        guerdon_http_api::ROUTES.iter().map(|it| (it.method.to_owned(), it.pattern.to_owned())).collect();
    rows.sort();
    routes.sort();
    assert_eq!(rows, routes);
}

#[test]
fn nobody_passes_without_valid_credentials() {
    on_each(|service| {
        let sample = Sample::make(service, 1);
        let suspended = service.provider("Suspended", true);
        service.json(&["provider", "set", &suspended.id, "--suspended", "true"]);
        let mut wrong = sample.provider.clone();
        wrong.api_secret.pop();
        let mut unknown = sample.provider.clone();
        unknown.api_key.push('x');
        let bad = [
            Some(basic(&wrong)),
            Some(basic(&unknown)),
            Some(basic(&suspended)),
            Some("Bearer abc".to_owned()),
            Some("Basic".to_owned()),
            Some("Basic !!!".to_owned()),
            Some("Basic bm9jb2xvbg==".to_owned()),
            None,
        ];
        let mut bodies = std::collections::BTreeSet::new();
        let fail_at = |at: usize| bad.get(at % bad.len()).and_then(|it| it.as_deref());
        for (at, (method, _, path, body)) in requests(&sample).into_iter().enumerate() {
            for turn in [at, at + 7] {
                let answer = call(service, fail_at(turn), method, &path, body.as_ref());
                answer.error(401);
                let challenge = answer.header("www-authenticate");
                assert_eq!(challenge, Some("Basic realm=\"guerdon\", charset=\"UTF-8\""), "{method} {path}");
                bodies.insert(answer.body);
            }
        }
        assert_eq!(bodies.len(), 1, "one body for every cause");
        assert_eq!(call(service, None, "GET", "/v1/nowhere", None).status, 401);
    });
}

#[test]
fn another_providers_objects_are_403_and_absent_ones_404() {
    on_each(|service| {
        let sample = Sample::make(service, 1);
        let stranger = service.provider("Stranger", true);
        for (method, _, path, body) in requests(&sample) {
            if path == "/v1/companies" {
                continue; // names nobody's object
            }
            let answer = call(service, Some(&basic(&stranger)), method, &path, body.as_ref());
            let message = answer.error(403);
            assert!(!message.contains("example"), "{message}");
            let absent = |text: &str| {
                let ids = [sample.company.as_str(), sample.occasion.as_str(), sample.users[0].as_str()];
                ids.iter().fold(text.to_owned(), |text, id| text.replace(id, ABSENT))
            };
            let body = body.map(|it| serde_json::from_str(&absent(&it.to_string())).unwrap());
            call(service, Some(&basic(&sample.provider)), method, &absent(&path), body.as_ref()).error(404);
        }
        call(
            service,
            Some(&basic(&stranger)),
            "GET",
            &format!("/v1/companies/{}", domain(service, &sample)),
            None,
        )
        .error(403);
        assert_eq!(
            service.get(&sample.provider, &format!("/v1/users/{}", sample.users[0])).json()["deleted_at"],
            Value::Null
        );
    });
}

fn domain(service: &Service, sample: &Sample) -> String {
    let answer = service.get(&sample.provider, &format!("/v1/companies/{}", sample.company));
    answer.json()["domain"].as_str().unwrap().to_owned()
}

#[test]
fn ids_named_in_a_recognition_are_judged_one_by_one() {
    on_each(|service| {
        let (mine, theirs) = (Sample::make(service, 2), Sample::make(service, 1));
        mine.deposit(service, 100);
        let base = mine.recognition("company", &mine.company, &[&mine.users[0]], 1);
        let check = |field: &str, value: &str, status: u16| {
            let mut body = base.clone();
            body[field] = json!(value);
            let message = service.post(&mine.provider, "/v1/recognitions", &body).error(status);
            assert!(message.contains(field), "{field}: {message}");
        };
        check("occasion_id", &theirs.occasion, 403);
        check("sender_id", &theirs.company, 403);
        check("receiver_ids", &format!("{},{}", mine.users[0], theirs.users[0]), 403);
        for field in ["occasion_id", "sender_id", "receiver_ids"] {
            check(field, ABSENT, 404);
        }
        check("sender_id", &mine.users[0], 404); // a user's id names no company
        check("receiver_ids", &mine.company, 404);
        assert_eq!(mine.shows(service, &mine.users[0], "user_wallet"), Some(0));
    });
}

#[test]
fn designation_is_asked_for_by_the_operations_that_the_spec_names_and_no_other() {
    on_each(|service| {
        let sample = Sample::make(service, 2);
        sample.fund(service, 10);
        service.json(&["provider", "set", &sample.provider.id, "--manages-all-domain-resources", "false"]);
        await_change(service, &sample);
        for (method, pattern, path, body) in requests(&sample) {
            let needs = guerdon_http_api::ROUTES
                .iter()
                .any(|it| it.method == method && it.pattern == pattern && it.needs_designation);
            assert_eq!(needs, matches!((method, pattern), ("POST", "/v1/companies" | "/v1/users")));
            if method == "POST" {
                let garbage = service.post_text(&sample.provider, &path, "{", &[]);
                assert_eq!(
                    garbage.status,
                    if needs { 403 } else { 400 },
                    "designation comes before the body"
                );
            }
            let answer = call(service, Some(&basic(&sample.provider)), method, &path, body.as_ref());
            if needs {
                answer.error(403);
            } else {
                assert!(matches!(answer.status, 200 | 201 | 204 | 400), "{method} {path}: {}", answer.body);
            }
        }
    });
}

/// A withdrawn right stops working within one second.
fn await_change(service: &Service, sample: &Sample) {
    let started = std::time::Instant::now();
    while service.post(&sample.provider, "/v1/companies", &json!({})).status != 403 {
        assert!(started.elapsed() < std::time::Duration::from_secs(1));
    }
}
