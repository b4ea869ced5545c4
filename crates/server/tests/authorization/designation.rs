//! Designation: which operations require it, when it is checked, and how soon a revoked permission stops working.

use std::time::{Duration, Instant};

use serde_json::json;

use super::{ABSENT_ID, list_requests, send_as_provider, send_request};
use crate::support::fixture_templates::for_each_fixture;
use crate::support::provider_fixture;
use crate::support::service::{ProviderCredentials, TestService, basic_authorization};
use crate::support::{for_each_database, for_each_database_with, wait_at_most};

/// Waits until a change is visible, for at most one second.
fn wait_at_most_a_second(is_visible: impl Fn() -> bool) {
    wait_at_most(Duration::from_secs(1), "the change took longer than a second", || {
        is_visible().then_some(())
    });
}

fn set_designated(service: &TestService, provider: &ProviderCredentials, is_designated: bool) {
    let value = is_designated.to_string();
    service.run_json_command(&["provider", "set", &provider.id, "--manages-all-domain-resources", &value]);
}

fn has_designation(service: &TestService, provider: &ProviderCredentials) -> bool {
    service.post(provider, "/v1/corporations", &json!({})).status != 403
}

#[test]
fn exactly_the_specified_operations_require_designation() {
    for_each_fixture(|service, fixture| {
        set_designated(service, fixture.provider(), false);
        wait_at_most_a_second(|| !has_designation(service, fixture.provider()));
        let before = fixture.take_snapshot(service);
        let (asking, free): (Vec<_>, Vec<_>) =
            list_requests(fixture).into_iter().partition(|row| row.needs_designation());
        assert_eq!((asking.len(), free.len()), (5, 31));
        for row in &asking {
            let message = row.send_as(service, fixture.provider()).expect_error(403);
            for garbage in ["", "{", "[]", "{\"a\":1,\"a\":1}", "{\"name\":1,\"domain\":null}"] {
                let response = send_request(
                    service,
                    Some(&basic_authorization(fixture.provider())),
                    row.method,
                    &row.path,
                    Some(garbage),
                );
                assert_eq!(response.expect_error(403), message, "designation is checked before the body");
            }
            if row.path_id().is_some() {
                send_as_provider(
                    service,
                    fixture.provider(),
                    row.method,
                    &row.path_for_id(ABSENT_ID),
                    row.body.as_ref(),
                )
                .expect_error(404);
                send_as_provider(
                    service,
                    fixture.provider(),
                    row.method,
                    &row.path_for_id("x"),
                    row.body.as_ref(),
                )
                .expect_error(404);
            }
        }
        assert_eq!(fixture.take_snapshot(service), before);
        for row in &free {
            let response = row.send_as(service, fixture.provider());
            assert_eq!(
                response.status,
                row.success_status(),
                "{} {}: {}",
                row.method,
                row.path,
                response.body
            );
        }
    });
}

#[test]
fn a_designated_provider_may_use_every_operation() {
    for_each_fixture(|service, fixture| {
        for row in list_requests(fixture) {
            let response = row.send_as(service, fixture.provider());
            assert_eq!(
                response.status,
                row.success_status(),
                "{} {}: {}",
                row.method,
                row.path,
                response.body
            );
            assert_eq!(response.body.is_empty(), row.success_status() == 204, "{} {}", row.method, row.path);
        }
    });
}

#[test]
fn a_stored_response_is_not_replayed_after_designation_is_revoked() {
    for_each_database(|service| {
        let provider = service.create_provider("Acme", true);
        let body = json!({"name": "Group"});
        let post = || service.post_with_key(&provider, "/v1/corporations", &body, "once");
        let first = post();
        assert_eq!(first.status, 201);
        assert_eq!(post().header("idempotency-replayed"), Some("true"));
        set_designated(service, &provider, false);
        wait_at_most_a_second(|| !has_designation(service, &provider));
        let refused = post();
        refused.expect_error(403);
        assert_eq!(refused.header("idempotency-replayed"), None);
        set_designated(service, &provider, true);
        wait_at_most_a_second(|| has_designation(service, &provider));
        assert_eq!(post().body, first.body);
    });
}

#[test]
fn revoked_permissions_stop_working_within_a_second() {
    for_each_fixture(|service, fixture| {
        let provider = fixture.provider();
        let is = |provider: &ProviderCredentials, status: u16| {
            service.get(provider, "/v1/companies").status == status
        };
        let suspend =
            |yes: &str| service.run_json_command(&["provider", "set", &provider.id, "--suspended", yes]);
        suspend("true");
        wait_at_most_a_second(|| is(provider, 401));
        let refused =
            send_request(service, Some(&basic_authorization(provider)), "POST", "/v1/users", Some("{}"));
        refused.expect_error(401);
        suspend("false");
        wait_at_most_a_second(|| is(provider, 200));
        let rotated = service.run_json_command(&["provider", "rotate", &provider.id, "--api-secret"]);
        let mut renewed = provider.clone();
        rotated["api_secret"].as_str().unwrap().clone_into(&mut renewed.api_secret);
        assert!(is(&renewed, 200), "the new secret works immediately");
        wait_at_most_a_second(|| is(provider, 401));
        set_designated(service, &renewed, false);
        wait_at_most_a_second(|| !has_designation(service, &renewed));
        set_designated(service, &renewed, true);
        wait_at_most_a_second(|| has_designation(service, &renewed));
    });
}

#[test]
fn a_new_secret_works_while_a_client_at_the_same_address_retries_the_old_one() {
    for_each_database_with(&[("GUERDON_RATE_LIMIT__FAILED_LOGINS_PER_MINUTE", "2")], |service| {
        let old = service.create_provider("Rotated", true);
        let status = |provider: &ProviderCredentials| service.get(provider, "/v1/companies").status;
        let rotate = || {
            let rotated = service.run_json_command(&["provider", "rotate", &old.id, "--api-secret"]);
            ProviderCredentials {
                api_secret: rotated["api_secret"].as_str().unwrap().to_owned(),
                ..old.clone()
            }
        };
        assert_eq!(status(&old), 200);
        let first = rotate();
        wait_at_most_a_second(|| status(&old) == 429);
        for _ in 0..10 {
            assert_eq!((status(&first), status(&old)), (200, 429));
        }
        let second = rotate();
        assert_eq!(status(&second), 200, "the first request arrives during the lockout");
        wait_at_most_a_second(|| status(&first) == 429);
        let suspend = |yes: &str| service.run_json_command(&["provider", "set", &old.id, "--suspended", yes]);
        suspend("true");
        wait_at_most_a_second(|| status(&second) == 429);
        suspend("false");
        assert_eq!((status(&second), status(&old)), (200, 429));
    });
}

#[test]
fn an_old_secret_works_during_its_grace_period() {
    for_each_database(|service| {
        let first = service.create_provider("Graceful", true);
        let is = |provider: &ProviderCredentials, status: u16| {
            service.get(provider, "/v1/companies").status == status
        };
        let rotate = |more: &[&str]| {
            let rotated = service
                .run_json_command(&[&["provider", "rotate", &first.id, "--api-secret"], more].concat());
            ProviderCredentials {
                api_secret: rotated["api_secret"].as_str().unwrap().to_owned(),
                ..first.clone()
            }
        };
        let second = rotate(&["--grace", "24"]);
        assert!(is(&second, 200) && is(&first, 200), "both secrets work");
        let third = rotate(&["--grace", "1"]);
        wait_at_most_a_second(|| is(&first, 401));
        assert!(is(&third, 200) && is(&second, 200), "the last two secrets work");
        let fourth = rotate(&[]);
        wait_at_most_a_second(|| is(&third, 401));
        assert!(is(&second, 401) && is(&fourth, 200), "without a grace period, all older secrets stop");
        for wrong in ["0", "8761", "x"] {
            let words = ["provider", "rotate", first.id.as_str(), "--api-secret", "--grace", wrong];
            assert_eq!(service.run_command(&words).status, 2, "{wrong}");
        }
    });
}

#[test]
fn a_transferred_company_is_foreign_immediately() {
    for_each_fixture(|service, fixture| {
        let heir = service.create_provider("Heir", true);
        service.run_json_command(&["company", "transfer", &fixture.sample.company, "--to", &heir.id]);
        for row in list_requests(fixture) {
            // Events created before the transfer remain with the provider for which they were created.
            let stays =
                ["/v1/corporations", "/v1/events"].iter().any(|prefix| row.pattern.starts_with(prefix));
            if row.path_id().is_none() || stays {
                continue;
            }
            let refused = row.send_as(service, fixture.provider());
            assert_eq!(refused.status, 403, "{} {}: {}", row.method, row.path, refused.body);
            let response = row.send_as(service, &heir);
            assert_eq!(
                response.status,
                row.success_status(),
                "{} {}: {}",
                row.method,
                row.path,
                response.body
            );
        }
        let user = provider_fixture::marked_user_body(&fixture.sample.company, "zebra", "late");
        assert!(
            service.post(fixture.provider(), "/v1/users", &user).expect_error(403).contains("company_id")
        );
        assert_eq!(service.post(&heir, "/v1/users", &user).status, 201);
        assert_eq!(service.get(fixture.provider(), "/v1/companies").json()["total_count"], 0);
        let companies = format!("/v1/corporations/{}/companies", fixture.corporation);
        assert_eq!(service.get(fixture.provider(), &companies).json()["total_count"], 0);
        service.get(&heir, &companies).expect_error(403);
    });
}

#[test]
fn permissions_revoked_after_the_request_head_are_not_honoured() {
    for_each_fixture(|service, fixture| {
        let (provider, sample) = (fixture.provider(), &fixture.sample);
        let send_after = |revoke: &dyn Fn(), path: &str, body: &str, status: u16| {
            let mut connection = service.running.https().connect().unwrap();
            let head = format!(
                "POST {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: {}\r\nExpect: 100-continue\r\n\
                 Content-Length: {}\r\n\r\n",
                basic_authorization(provider),
                body.len()
            );
            connection.send_bytes(head.as_bytes()).unwrap();
            let mut buffer = [0; 256];
            let interim = connection.receive_bytes(&mut buffer).unwrap();
            assert!(interim.starts_with(b"HTTP/1.1 100"), "the request is admitted");
            let admitted_at = Instant::now();
            revoke();
            while admitted_at.elapsed() < Duration::from_millis(550) {
                service.running.operator_page_status("/healthz");
                std::thread::sleep(Duration::from_millis(20)); // tidy: lets the service's cache of providers expire
            }
            connection.expect_status(status, body.as_bytes()).unwrap();
        };
        let count_rows = || ["corporations", "recognitions"].map(|table| service.database.count_rows(table));
        let before = count_rows();
        let corporation = json!({"name": "Late"}).to_string();
        let recognition =
            sample.recognition_body("company", &sample.company, &[&sample.users[1]], 1).to_string();
        let suspend = |yes: &str| {
            service.run_json_command(&["provider", "set", &provider.id, "--suspended", yes]);
        };
        let admit_again = || {
            suspend("false");
            wait_at_most_a_second(|| service.get(provider, "/v1/companies").status == 200);
        };
        send_after(&|| suspend("true"), "/v1/corporations", &corporation, 401);
        admit_again();
        send_after(&|| suspend("true"), "/v1/corporations", "{", 401);
        admit_again();
        send_after(&|| suspend("true"), "/v1/recognitions", &recognition, 401);
        admit_again();
        send_after(&|| set_designated(service, provider, false), "/v1/corporations", &corporation, 403);
        assert_eq!(count_rows(), before);
    });
}
