//! `guerdon request list`: failed requests can be found by their ids, and contain no personal data (behaviour 5.8).

use std::collections::BTreeSet;

use guerdon_test_harness::OperatorPage;
use rustix::process::{Pid, Resource, Rlimit, prlimit};
use serde_json::{Value, json};

use crate::support::service::{ProviderCredentials, TestService, basic_authorization};
use crate::support::{SampleCompany, for_each_database, for_each_database_with, run_on_sqlite, wait_until};

/// A string that stands for personal data in a request.
const PERSONAL: &str = "grace.hopper";

fn list(service: &TestService, filter: &[&str]) -> Vec<Value> {
    let found = service.run_json_command(&[&["request", "list"], filter].concat());
    found.as_array().unwrap().clone()
}

/// Waits until the database has this many of these rows, because the service stores them every half second. Returns the
/// list with the filter that selects them.
fn wait_for_count(service: &TestService, rows: &str, filter: &[&str], count: usize) -> Vec<Value> {
    let expected = i64::try_from(count).unwrap();
    wait_until("failed requests should be stored", || {
        (service.database.count_rows(rows) >= expected).then_some(())
    });
    let found = list(service, filter);
    assert_eq!(found.len(), count, "{found:?}");
    found
}

#[test]
fn a_failed_request_is_found_by_its_id_even_after_a_restart() {
    for_each_database(|service| {
        let sample = SampleCompany::create(service, 0);
        let other = service.create_provider("Other", false);
        assert_eq!(service.get_with_id(&sample.provider, "/v1/users/x?page=1", "complaint-1").status, 404);
        assert_eq!(
            service.get_with_id(&other, &format!("/v1/companies/{}", sample.company), "second").status,
            403
        );
        let nobody = ProviderCredentials { api_secret: "wrong".to_owned(), ..other.clone() };
        assert_eq!(service.get_with_id(&nobody, "/v1/companies", "third").status, 401);
        let all = wait_for_count(service, "failed_requests", &[], 3);
        let ids: Vec<&str> = all.iter().map(|request| request["request_id"].as_str().unwrap()).collect();
        assert_eq!(ids, ["third", "second", "complaint-1"], "newest first");
        check_filters(service, &sample.provider, &other);
        assert_eq!(all[1]["reason"], "the company belongs to another provider: id …");
        let found = list(service, &["--request-id", "complaint-1"]);
        let (at, duration) = (&found[0]["at"], &found[0]["duration_ms"]);
        assert!(at.as_str().unwrap().ends_with('Z') && duration.is_u64());
        let expected = json!({
            "request_id": "complaint-1", "at": at, "provider_id": sample.provider.id, "method": "GET",
            "route": "/v1/users/:id", "status": 404, "duration_ms": duration, "reason": "user not found",
        });
        assert_eq!(found, [expected]);
        assert_eq!(all[0]["provider_id"], Value::Null);
        let page = service.running.operator_page("/requests?request_id=complaint-1").body;
        assert!(page.contains("user not found") && !page.contains("second"), "{page}");
        let page = service.running.operator_page("/requests?request_id=complaint").body;
        assert!(page.contains("No failed request with this id is stored"), "{page}");
        service.running.kill().unwrap();
        assert_eq!(list(service, &[]), all, "without a running service");
        service.restart();
        assert_eq!(list(service, &[]), all);
    });
}

fn check_filters(service: &TestService, one: &ProviderCredentials, other: &ProviderCredentials) {
    let check = |filter: &[&str], expected: &[u16]| {
        let statuses: Vec<Value> =
            list(service, filter).iter().map(|request| request["status"].clone()).collect();
        assert_eq!(statuses, expected, "{filter:?}");
    };
    check(&["--provider", &one.id], &[404]);
    check(&["--provider", "Other"], &[403]);
    check(&["--provider", &other.id, "--status", "404"], &[]);
    check(&["--status", "4xx"], &[401, 403, 404]);
    check(&["--status", "5xx"], &[]);
    check(&["--status", "401"], &[401]);
    check(&["--since", "1h", "--limit", "2"], &[401, 403]);
    check(&["--since", "2099-01-01T00:00:00Z"], &[]);
    let text = service.run_command(&["request", "list"]).stdout;
    assert!(text.starts_with("AT ") && text.contains("/v1/users/:id"), "{text}");
    assert_eq!(service.run_command(&["request", "list", "--status", "200"]).status, 2);
}

#[test]
fn a_flood_of_client_errors_displaces_no_server_error() {
    for_each_database(|service| {
        let sample = SampleCompany::create(service, 0);
        service.run_json_command(&["maintenance", "on"]);
        wait_until("maintenance should begin", || {
            (service.get_with_id(&sample.provider, "/v1/companies", "found-again").status == 503)
                .then_some(())
        });
        assert_eq!(service.get_with_id(&sample.provider, "/v1/companies", "not-logged").status, 503);
        let logged = "method=GET route=/v1/companies status=503 duration_ms=";
        let reason = r#"reason="the service is under maintenance" requests=1"#;
        for part in ["(logged once a minute for each reason)", logged, reason] {
            assert_eq!(service.wait_for_log(part), 1, "{part}");
        }
        service.run_json_command(&["maintenance", "off"]);
        wait_until("maintenance should end", || {
            (service.get(&sample.provider, "/v1/companies").status == 200).then_some(())
        });
        for _ in 0..1_100 {
            assert_eq!(service.get(&sample.provider, "/v1/users/x").status, 404);
        }
        assert_eq!(service.get_with_id(&sample.provider, "/v1/users/x", "the-last").status, 404);
        let rows = ["failed_requests WHERE request_id = 'the-last'", "failed_requests WHERE status = 404"];
        wait_until("the last thousand should be stored", || {
            (service.database.count_each(&rows) == [1, 1_000]).then_some(())
        });
        assert_eq!(list(service, &["--request-id", "the-last"]).len(), 1);
        assert_eq!(list(service, &["--status", "404"]).len(), 1_000);
        let found = list(service, &["--status", "5xx", "--request-id", "found-again"]);
        assert_eq!(found[0]["reason"], "the service is under maintenance");
        check_console_pages(service, &sample.provider);
    });
}

/// Follows the links to older requests. Each page has 50 of the thousand.
fn check_console_pages(service: &TestService, provider: &ProviderCredentials) {
    let mut link = format!("/requests?status=404&provider={}", provider.id);
    let mut ids = BTreeSet::new();
    for number in 1..=20 {
        let OperatorPage { status, body: page, .. } = service.running.operator_page(&link);
        assert_eq!(status, 200, "{link}");
        ids.extend(
            page.split("<code class=\"soft\">")
                .skip(1)
                .filter_map(|part| part.split('<').next())
                .map(str::to_owned),
        );
        assert_eq!(ids.len(), 50 * number, "{link}");
        let older = page.split(" rel=\"next\" href=\"").nth(1).and_then(|part| part.split('"').next());
        assert_eq!(older.is_some(), number < 20, "{link}");
        link = older.unwrap_or_default().replace("&amp;", "&");
    }
}

#[test]
fn a_request_over_the_rate_limit_is_recorded_with_its_provider() {
    let settings = [("GUERDON_RATE_LIMIT__REQUESTS_PER_SECOND", "1"), ("GUERDON_RATE_LIMIT__BURST", "1")];
    for_each_database_with(&settings, |service| {
        let provider = service.create_provider("Busy", false);
        wait_until("the rate limit should be reached", || {
            (service.get_with_id(&provider, "/v1/companies", "too-many").status == 429).then_some(())
        });
        let found = wait_for_count(service, "failed_requests WHERE status = 429", &["--status", "429"], 1);
        assert_eq!(found[0]["provider_id"], provider.id);
    });
}

#[test]
fn requests_of_every_process_are_listed_including_those_before_it_stopped() {
    for_each_database(|service| {
        let sample = SampleCompany::create(service, 0);
        assert_eq!(service.get_with_id(&sample.provider, "/v1/users/x", "to-the-first").status, 404);
        if !service.database.is_embedded() {
            let second = service.start_second_process();
            let authorization = basic_authorization(&sample.provider);
            let headers = [("Authorization", authorization.as_str()), ("X-Request-Id", "to-the-second")];
            assert_eq!(second.send_request("GET", "/v1/users/x", &headers, None).status, 404);
            let rows = "failed_requests WHERE request_id = 'to-the-second'";
            wait_for_count(service, rows, &["--request-id", "to-the-second"], 1);
        }
        assert_eq!(service.get_with_id(&sample.provider, "/v1/users/x", "before-the-stop").status, 404);
        service.running.terminate().unwrap();
        assert_eq!(service.running.wait_for_exit().unwrap(), Some(0));
        assert_eq!(list(service, &["--request-id", "before-the-stop"]).len(), 1);
        service.restart();
    });
}

#[test]
fn server_errors_are_recorded_after_an_outage_of_the_database() {
    run_on_sqlite(|service| {
        let sample = SampleCompany::create(service, 0);
        limit_file_size(service, Some(0));
        for number in 1..=5 {
            let body = json!({"name": format!("Corporation {number}")});
            assert_eq!(service.post(&sample.provider, "/v1/corporations", &body).status, 503);
        }
        assert!(list(service, &[]).is_empty(), "the list is read while nothing can be written");
        limit_file_size(service, None);
        let found = wait_for_count(service, "failed_requests", &[], 5);
        assert_eq!(found[0]["route"], "/v1/corporations");
        let reason = "the service is temporarily unavailable: the outcome of a commit is unknown";
        assert_eq!(found[0]["reason"], reason);
    });
}

/// Limits the size of the files that the service writes. `None` removes the limit.
fn limit_file_size(service: &TestService, bytes_max: Option<u64>) {
    let maximum = rustix::process::getrlimit(Resource::Fsize).maximum;
    let pid = Pid::from_raw(service.running.pid());
    prlimit(pid, Resource::Fsize, Rlimit { current: bytes_max, maximum }).unwrap();
}

/// Sends requests that fail, with personal data wherever a client may put any. Returns their number.
fn send_personal_data(service: &TestService, sample: &SampleCompany) -> usize {
    let authorization = basic_authorization(&sample.provider);
    let mut count = 0;
    let mut send = |method: &str, path: &str, more: &[(&str, &str)], body: Option<&str>| {
        let headers = [&[("Authorization", authorization.as_str())], more].concat();
        let response = service.running.send_request(method, path, &headers, body);
        assert!((400..500).contains(&response.status), "{method} {path}: {}", response.status);
        count += 1;
    };
    let email = format!("{PERSONAL}@example.com");
    let json = ("Content-Type", "application/json");
    send("GET", &format!("/v1/users/{email}"), &[], None);
    send("GET", &format!("/v1/{email}"), &[], None);
    send("GET", &format!("/{email}"), &[("Accept", "text/html")], None);
    send("GET", &format!("/{PERSONAL}/companies"), &[], None);
    send("GET", &format!("/v1/users/x?{PERSONAL}={email}"), &[], None);
    send("GET", &format!("/v1/companies?page={email}&per_page={PERSONAL}"), &[], None);
    send("GET", &format!("/v1/events?after={email}&type={PERSONAL}&since={email}"), &[], None);
    send("GET", &format!("/v1/companies/{}/users?updated_since={email}", sample.company), &[], None);
    send("GET", "/v1/users/x", &[("X-Request-Id", &email)], None);
    send("POST", "/v1/companies", &[("Content-Type", &email)], Some("{}"));
    send("POST", "/v1/companies", &[json, ("Idempotency-Key", "Grace grace.hopper")], Some("{}"));
    send("POST", "/v1/companies", &[json], Some(&format!("{{\"email\": \"{email}\",}}")));
    let wrong = json!({"company_id": email, "email": PERSONAL, "first_name": [email], "birthday": email});
    send("POST", "/v1/users", &[json], Some(&wrong.to_string()));
    let unknown = json!({PERSONAL: email, "email": email}).to_string();
    let strict = ("Prefer", "handling=strict");
    send("PUT", &format!("/v1/users/{}", sample.users[0]), &[json, strict], Some(&unknown));
    let recognition = json!({
        "occasion_id": sample.occasion, "sender_type": "company", "sender_id": sample.company,
        "receiver_ids": format!("{0},{0}", sample.users[0]), "points_per_receiver": 1, "message": PERSONAL,
    });
    send("POST", "/v1/recognitions", &[json], Some(&recognition.to_string()));
    count
}

#[test]
fn nothing_that_a_client_sent_is_stored_or_logged() {
    let settings =
        [("GUERDON_LOG__REQUESTS", "true"), ("GUERDON_LOG__FORMAT", "json"), ("GUERDON_LOG__LEVEL", "debug")];
    for_each_database_with(&settings, |service| {
        let sample = SampleCompany::create(service, 1);
        let count = send_personal_data(service, &sample);
        let found = wait_for_count(service, "failed_requests", &[], count);
        let shown = json!(found).to_string();
        assert!(!shown.contains(PERSONAL) && !shown.contains(&sample.users[0]), "{shown}");
        assert!(shown.contains("receiver_ids must not name a user twice: …"), "{shown}");
        assert!(shown.contains("the body has unknown fields\""), "{shown}");
        let rows = service.database.count_rows("failed_requests");
        assert_eq!(usize::try_from(rows).unwrap(), count);
        let reason = r#""reason":"receiver_ids must not name a user twice: …""#;
        assert_eq!(service.wait_for_log(reason), 1, "failed requests are logged with their reason");
        assert_eq!(service.running.count_in_log(PERSONAL), 0);
    });
}
