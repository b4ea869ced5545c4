//! Errors as problem details (behaviour 5.6, 5.7): each code that a client can cause, its fields, and its
//! documentation.

use serde_json::{Value, json};

use crate::support::service::{ApiResponse, ProviderCredentials, TestService, basic_authorization};
use crate::support::{
    SampleCompany, company_body, created_id, for_each_database, for_each_database_with, user_body, wait_until,
};

const PROBLEM: &str = "application/problem+json";

/// Sends a request that accepts problem details.
fn send(
    service: &TestService,
    provider: &ProviderCredentials,
    (method, path): (&str, &str),
    more: &[(&str, &str)],
    body: Option<&str>,
) -> ApiResponse {
    let authorization = basic_authorization(provider);
    let mut headers = vec![("Authorization", authorization.as_str()), ("Accept", PROBLEM)];
    headers.extend_from_slice(more);
    service.running.send_request(method, path, &headers, body)
}

/// Checks the members that depend on the code, and returns the fields of `errors`.
fn check_problem(response: &ApiResponse, status: u16, code: &str) -> Vec<String> {
    assert_eq!(response.header("content-type"), Some(PROBLEM), "{}", response.body);
    let problem = response.json();
    let names: Vec<&str> = problem.as_object().unwrap().keys().map(String::as_str).collect();
    let mut expected = vec!["type", "title", "status", "detail", "code", "request_id", "errors"];
    let mut sorted = names.clone();
    sorted.sort_unstable();
    expected.sort_unstable();
    assert_eq!(sorted, expected);
    assert_eq!(
        (response.status, &problem["status"], &problem["code"]),
        (status, &json!(status), &json!(code)),
        "{problem}"
    );
    assert_eq!(problem["type"], format!("https://localhost:8443/docs/errors#{code}"));
    assert_eq!(problem["request_id"].as_str(), response.header("x-request-id"));
    let detail = problem["detail"].as_str().unwrap();
    let entries = problem["errors"].as_array().unwrap();
    for entry in entries {
        assert!(detail.contains(entry["message"].as_str().unwrap()), "{problem}");
    }
    entries.iter().map(|entry| entry["field"].as_str().unwrap().to_owned()).collect()
}

/// Asserts that a request is refused with a status and a code, and names these fields.
fn assert_refused(
    service: &TestService,
    sample: &SampleCompany,
    request: (&str, &str),
    body: Option<&Value>,
    (status, code): (u16, &str),
    fields: &[&str],
) {
    let text = body.map(Value::to_string);
    let json = [("Content-Type", "application/json")];
    let response = send(service, &sample.provider, request, &json, text.as_deref());
    assert_eq!(check_problem(&response, status, code), fields, "{request:?}: {}", response.body);
}

#[test]
fn each_code_of_a_refused_operation_names_its_fields() {
    for_each_database(|service| {
        let sample = SampleCompany::create(service, 2);
        let stranger = SampleCompany::create(service, 0);
        let check = |route: (&str, &str), body: Option<&Value>, status: u16, code: &str, fields: &[&str]| {
            assert_refused(service, &sample, route, body, (status, code), fields);
        };
        let company = format!("/v1/companies/{}", sample.company);
        check(("GET", "/v1/nothing"), None, 404, "not_found", &[]);
        check(("GET", "/v2/companies"), None, 404, "not_found", &[]);
        check(("GET", "/v1/users/x"), None, 404, "not_found", &["id"]);
        check(("GET", &format!("/v1/users/{}", sample.company)), None, 404, "not_found", &["id"]);
        check(("GET", &format!("/v1/companies/{}", stranger.company)), None, 403, "forbidden", &["id"]);
        check(("PATCH", "/v1/users"), None, 405, "method_not_allowed", &[]);
        check(
            ("GET", "/v1/companies?page=0&per_page=x"),
            None,
            400,
            "invalid_request",
            &["page", "per_page"],
        );
        check(
            ("GET", &format!("/v1/companies?corporation_id={}", sample.company)),
            None,
            404,
            "not_found",
            &["corporation_id"],
        );
        check(
            ("POST", "/v1/users"),
            Some(&json!({"email": 1, "company_id": sample.company})),
            400,
            "invalid_request",
            &["email", "first_name", "last_name"],
        );
        check(
            ("POST", "/v1/companies"),
            Some(&company_body(&format!("{}.example.com", stranger.provider.id))),
            400,
            "domain_taken",
            &["domain"],
        );
        check(("POST", "/v1/users"), Some(&user_body(&sample.company, "u0")), 400, "email_taken", &["email"]);
        let user = format!("/v1/users/{}", sample.users[0]);
        check(("PUT", &user), Some(&json!({"email": "u1@example.com"})), 400, "email_taken", &["email"]);
        check(
            ("PUT", &user),
            Some(&json!({"company_id": stranger.company})),
            400,
            "invalid_request",
            &["company_id"],
        );
        check(
            ("PUT", &company),
            Some(&json!({"domain": "other.example"})),
            400,
            "invalid_request",
            &["domain"],
        );
        check(("POST", "/v1/events/replay"), Some(&json!({})), 400, "invalid_request", &["since", "state"]);
    });
}

#[test]
fn each_code_of_a_refused_recognition_names_its_fields() {
    for_each_database(|service| {
        let sample = SampleCompany::create(service, 2);
        let stranger = SampleCompany::create(service, 0);
        let check = |route: (&str, &str), body: Option<&Value>, status: u16, code: &str, fields: &[&str]| {
            assert_refused(service, &sample, route, body, (status, code), fields);
        };
        let recognition = |receivers: &[&str], points: i64| {
            sample.recognition_body("company", &sample.company, receivers, points)
        };
        let receiver = sample.users[0].as_str();
        let path = ("POST", "/v1/recognitions");
        check(path, Some(&recognition(&[receiver], 5)), 400, "insufficient_funds", &[]);
        check(path, Some(&recognition(&[receiver], 0)), 400, "points_out_of_range", &["points_per_receiver"]);
        check(path, Some(&recognition(&[&sample.company], 5)), 404, "not_found", &["receiver_ids"]);
        let mut foreign = recognition(&[receiver], 5);
        foreign["occasion_id"] = json!(stranger.occasion);
        check(path, Some(&foreign), 403, "forbidden", &["occasion_id"]);
        let both = sample.recognition_body("user", receiver, &[receiver], 0);
        check(path, Some(&both), 400, "invalid_request", &["receiver_ids", "points_per_receiver"]);
        check(path, Some(&recognition(&[receiver, receiver], 5)), 400, "invalid_request", &["receiver_ids"]);
    });
}

#[test]
fn missing_designation_names_no_field_and_strict_handling_names_unknown_ones() {
    for_each_database(|service| {
        let sample = SampleCompany::create(service, 0);
        let plain = service.create_provider("Plain", false);
        let json = [("Content-Type", "application/json")];
        let body = company_body("plain.example.com").to_string();
        let refused = send(service, &plain, ("POST", "/v1/companies"), &json, Some(&body));
        assert!(check_problem(&refused, 403, "forbidden").is_empty(), "not designated");
        let strict = [("Content-Type", "application/json"), ("Prefer", "handling=strict")];
        let mut unknown = user_body(&sample.company, "strict");
        unknown["departement"] = json!("x");
        let refused =
            send(service, &sample.provider, ("POST", "/v1/users"), &strict, Some(&unknown.to_string()));
        assert_eq!(check_problem(&refused, 400, "invalid_request"), ["departement"]);
    });
}

#[test]
fn a_message_names_the_json_error_or_the_duplicate_receiver() {
    for_each_database(|service| {
        let sample = SampleCompany::create(service, 1);
        let post = |body: &str| {
            service.post_with_headers(&sample.provider, "/v1/users", body, &[]).expect_error(400)
        };
        let must = "the body must be valid JSON in UTF-8, nested at most 127 levels deep";
        assert_eq!(post("{\"a\": 1,}"), format!("{must}: trailing comma at line 1, column 9"));
        assert_eq!(post("{\n\"private\" 1}"), format!("{must}: expected `:` at line 2, column 11"));
        let user = sample.users[0].as_str();
        let refused = sample.send_recognition(service, &sample.company, &[user, user], 1);
        assert_eq!(refused.expect_error(400), format!("receiver_ids must not name a user twice: {user}"));
        let json = [("Content-Type", "application/json")];
        let refused = send(service, &sample.provider, ("POST", "/v1/users"), &json, Some("{\"a\": 1,}"));
        assert!(check_problem(&refused, 400, "invalid_request").is_empty());
    });
}

#[test]
fn a_reused_key_has_its_own_code() {
    for_each_database(|service| {
        let sample = SampleCompany::create(service, 0);
        let headers = [("Content-Type", "application/json"), ("Idempotency-Key", "order-1")];
        let post = |name: &str| {
            let body = user_body(&sample.company, name).to_string();
            send(service, &sample.provider, ("POST", "/v1/users"), &headers, Some(&body))
        };
        created_id(post("a"));
        assert!(check_problem(&post("b"), 400, "idempotency_key_reused").is_empty());
    });
}

#[test]
fn errors_before_routing_have_codes() {
    let settings = [
        ("GUERDON_RATE_LIMIT__REQUESTS_PER_SECOND", "1"),
        ("GUERDON_RATE_LIMIT__BURST", "2"),
        ("GUERDON_RATE_LIMIT__FAILED_LOGINS_PER_MINUTE", "2"),
        ("GUERDON_HTTP__RETIRED_VERSIONS", "v0"),
    ];
    for_each_database_with(&settings, |service| {
        let provider = service.create_provider("Busy", true);
        let get = |path: &str| send(service, &provider, ("GET", path), &[], None);
        assert!(check_problem(&get("/v0/companies"), 410, "version_retired").is_empty());
        let limited = wait_until("the rate limit should be reached", || {
            Some(get("/v1/companies")).filter(|response| response.status == 429)
        });
        assert!(check_problem(&limited, 429, "rate_limited").is_empty());
        let mut wrong = provider.clone();
        wrong.api_secret.push('x');
        let login = || send(service, &wrong, ("GET", "/v1/companies"), &[], None);
        assert!(check_problem(&login(), 401, "unauthorized").is_empty());
        let limited = wait_until("the login limit should be reached", || {
            Some(login()).filter(|response| response.status == 429)
        });
        assert!(check_problem(&limited, 429, "login_rate_limited").is_empty());
        service.run_json_command(&["maintenance", "on"]);
        let refused = wait_until("maintenance should begin", || {
            Some(get("/v1/companies")).filter(|response| response.status == 503)
        });
        assert!(check_problem(&refused, 503, "maintenance").is_empty());
        service.run_json_command(&["maintenance", "off"]);
    });
}

#[test]
fn plain_http_behind_a_proxy_has_its_own_code() {
    let settings = [("GUERDON_HTTP__TLS__MODE", "proxy"), ("GUERDON_HTTP__TRUSTED_PROXIES", "192.0.2.0/24")];
    for_each_database_with(&settings, |service| {
        let refused = service.running.send_request("GET", "/v1/companies", &[("Accept", PROBLEM)], None);
        assert!(check_problem(&refused, 403, "https_required").is_empty());
    });
}

#[test]
fn requests_that_no_parser_accepts_have_a_code_too() {
    for_each_database(|service| {
        let send_bytes = |request: &str| {
            let mut responses =
                service.running.https().connect().unwrap().send_and_read_to_end(request.as_bytes()).unwrap();
            assert_eq!(responses.len(), 1, "{request}");
            responses.remove(0)
        };
        let accept = format!("Accept: {PROBLEM}\r\n");
        for broken in [
            format!("GET / HTTP/1.1\r\n{accept}\r\n"),
            format!(
                "POST /v1/users HTTP/1.1\r\nHost: a\r\n{accept}Content-Length: 1\r\nContent-Length: 2\r\n\r\n"
            ),
            format!(
                "POST /v1/users HTTP/1.1\r\nHost: a\r\n{accept}Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n"
            ),
            format!(
                "DELETE /v1/users HTTP/1.1\r\nHost: a\r\n{accept}Transfer-Encoding: chunked\r\n\r\nx\r\n"
            ),
        ] {
            let response = send_bytes(&broken);
            let problem: Value = serde_json::from_slice(&response.body).unwrap();
            assert_eq!(
                (response.status, &problem["code"], &problem["errors"]),
                (400, &json!("invalid_request"), &json!([])),
                "{broken}"
            );
            assert!(response.head.contains(&format!("\r\ncontent-type: {PROBLEM}")), "{}", response.head);
            let request_id = problem["request_id"].as_str().unwrap();
            assert!(response.head.contains(&format!("\r\nx-request-id: {request_id}")), "{}", response.head);
        }
        let response = send_bytes("GET / HTTP/1.1\r\nAccept: */*\r\n\r\n");
        let error: Value = serde_json::from_slice(&response.body).unwrap();
        assert_eq!(error["error"]["status"], 400, "the default format");
    });
}

#[test]
fn every_code_is_explained_on_the_page_that_its_type_names() {
    for_each_database(|service| {
        let page = service.running.send_request("GET", "/docs/errors", &[], None);
        assert_eq!(page.status, 200);
        let description = service.running.send_request("GET", "/openapi.json", &[], None).json();
        let codes = &description["components"]["schemas"]["Problem"]["properties"]["code"]["enum"];
        assert_eq!(codes.as_array().unwrap().len(), 17);
        for code in codes.as_array().unwrap() {
            let anchor = format!("id=\"{}\"", code.as_str().unwrap());
            assert!(page.body.contains(&anchor), "{anchor}");
        }
    });
}
