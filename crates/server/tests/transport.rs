//! TLS, proxies, health checks, maintenance mode.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::time::Duration;

use guerdon_test_harness::HttpsClient;
use serde_json::json;
use time::OffsetDateTime;
use time::format_description::well_known::{Rfc2822, Rfc3339};

use crate::support::service::{TestService, basic_authorization};
use crate::support::{SampleCompany, for_each_database, for_each_database_with, wait_at_most, wait_until};

/// The response to a plain TCP client.
fn send_plain_http(service: &TestService, request: &str) -> String {
    let address = service.running.api_url.split("://").nth(1).unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut response = Vec::new();
    drop(stream.read_to_end(&mut response));
    String::from_utf8_lossy(&response).into_owned()
}

#[test]
fn plain_http_to_the_tls_port_fails() {
    for_each_database(|service| {
        let response = send_plain_http(service, "GET /v1/companies HTTP/1.1\r\nHost: localhost\r\n\r\n");
        assert!(!response.contains("HTTP/1"), "{response}");
    });
}

#[test]
fn clients_may_offer_the_version_of_http_that_they_use() {
    for_each_database(|service| {
        for (protocols, version) in [(&["h2", "http/1.1"][..], "1.1"), (&["http/1.0"], "1.0")] {
            let client = service.running.https().with_protocols(protocols);
            let request = format!("GET /v1/companies HTTP/{version}\r\nHost: localhost\r\n\r\n");
            let response = client.connect().unwrap().send_request(request.as_bytes()).unwrap();
            assert_eq!(response.status, 401, "{protocols:?}");
        }
        let client = service.running.https().with_protocols(&["h2"]);
        assert!(client.connect().is_err(), "no protocol in common");
    });
}

#[test]
fn custom_certificate_files_are_served_and_reloaded() {
    let folder = tempfile::TempDir::new().unwrap();
    let write = || {
        let generated = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
        std::fs::write(folder.path().join("key.pem"), generated.signing_key.serialize_pem()).unwrap();
        std::fs::write(folder.path().join("certificate.pem"), generated.cert.pem()).unwrap();
    };
    write();
    let file = |name: &str| folder.path().join(name).display().to_string();
    let (certificate, key) = (file("certificate.pem"), file("key.pem"));
    let settings = [
        ("GUERDON_HTTP__TLS__MODE", "files"),
        ("GUERDON_HTTP__TLS__CERTIFICATE", certificate.as_str()),
        ("GUERDON_HTTP__TLS__PRIVATE_KEY", key.as_str()),
    ];
    for_each_database_with(&settings, |service| {
        let shakes_hands = || {
            let address = service.running.https().address();
            HttpsClient::new(address, Some(Path::new(&certificate))).unwrap().connect().is_ok()
        };
        assert!(shakes_hands());
        write();
        wait_at_most(Duration::from_secs(10), "the old certificate is still served", || {
            shakes_hands().then_some(())
        });
    });
}

#[test]
fn every_response_has_the_standard_headers() {
    for_each_database(|service| {
        let provider = service.create_provider("Acme", true);
        let authorization = basic_authorization(&provider);
        let headers = [("Authorization", authorization.as_str()), ("X-Request-Id", "mine-1")];
        for (path, status) in [("/v1/companies/example.com", 404), ("/v9/x", 404), ("/v1/users", 405)] {
            let response = service.running.send_request("GET", path, &headers, None);
            response.expect_error(status);
            assert_eq!(response.header("x-request-id"), Some("mine-1"));
            assert_eq!(response.header("cache-control"), Some("no-store"));
            assert_eq!(response.header("x-content-type-options"), Some("nosniff"));
            assert_eq!(response.header("strict-transport-security"), Some("max-age=63072000"));
            assert!(response.header("content-type").unwrap().starts_with("application/json"));
        }
        let response = service.running.send_request("GET", "/v1/users", &headers, None);
        assert_eq!(response.header("allow"), Some("POST"));
        let response = service.running.send_request("GET", "/", &[("X-Request-Id", "bad id")], None);
        assert_eq!(response.header("x-request-id").map(str::len), Some(36));
    });
}

#[test]
fn the_date_is_not_before_the_times_in_the_body() {
    for_each_database(|service| {
        let provider = service.create_provider("Acme", true);
        let create_one = || {
            let created = service.post(&provider, "/v1/corporations", &json!({"name": "Group"}));
            let date = OffsetDateTime::parse(created.header("date").unwrap(), &Rfc2822).unwrap();
            let created_at = created.json()["created_at"].as_str().unwrap().to_owned();
            let created_at = OffsetDateTime::parse(&created_at, &Rfc3339).unwrap();
            assert!(date >= created_at.truncate_to_second(), "{date} is before {created_at}");
            created_at
        };
        for _ in 0..3 {
            let first = create_one();
            let rest_of_second = Duration::from_millis(1_000 - u64::from(first.millisecond()));
            // tidy: a date is wrong most likely when a second begins
            std::thread::sleep(rest_of_second.saturating_sub(Duration::from_millis(20)));
            while create_one().truncate_to_second() == first.truncate_to_second() {}
        }
    });
}

#[test]
fn a_proxy_must_be_trusted_and_must_forward_https() {
    let settings = [("GUERDON_HTTP__TLS__MODE", "proxy"), ("GUERDON_HTTP__TRUSTED_PROXIES", "127.0.0.0/8")];
    for_each_database_with(&settings, |service| {
        let authorization = basic_authorization(&service.create_provider("Acme", true));
        let call = |proto: Option<&str>| {
            let mut headers = vec![("Authorization", authorization.as_str())];
            headers.extend(proto.map(|scheme| ("X-Forwarded-Proto", scheme)));
            service.running.send_request("GET", "/v1/companies/example.com", &headers, None)
        };
        assert_eq!(call(None).expect_error(403), "HTTPS is required");
        assert_eq!(call(Some("http")).expect_error(403), "HTTPS is required");
        call(Some("https")).expect_error(404);
    });
    let settings = [("GUERDON_HTTP__TLS__MODE", "proxy"), ("GUERDON_HTTP__TRUSTED_PROXIES", "192.0.2.0/24")];
    for_each_database_with(&settings, |service| {
        let headers = [("X-Forwarded-Proto", "https")];
        let response = service.running.send_request("GET", "/v1/companies/example.com", &headers, None);
        assert_eq!(response.expect_error(403), "HTTPS is required");
    });
}

#[test]
fn nothing_after_the_last_response_is_handled() {
    for_each_database(|service| {
        let sample = SampleCompany::create(service, 0);
        let create = |more: &str, body: &str| {
            format!(
                "POST /v1/occasions HTTP/1.1\r\nHost: localhost\r\nAuthorization: {}\r\n{more}\r\n{body}",
                basic_authorization(&sample.provider)
            )
        };
        let body = crate::support::occasion_body(&sample.company).to_string();
        let length = format!("Content-Length: {}\r\n", body.len());
        let chunk = format!("10000\r\n{}\r\n", " ".repeat(65_536));
        let too_large = create("Transfer-Encoding: chunked\r\n", &format!("{}0\r\n\r\n", chunk.repeat(17)));
        let polite = create(&format!("{length}Connection: close\r\n"), &body);
        for (first, status) in [(too_large, 400), (polite, 201)] {
            let before = service.database.count_rows("occasions");
            let follower = create(&length, &body);
            let connection = service.running.https().connect().unwrap();
            let responses = connection.send_and_read_to_end(format!("{first}{follower}").as_bytes()).unwrap();
            let statuses: Vec<u16> = responses.iter().map(|response| response.status).collect();
            assert_eq!(statuses, [status], "{responses:?}");
            let after = service.database.count_rows("occasions");
            assert_eq!(after - before, i64::from(status == 201), "the following request must not be handled");
        }
    });
}

#[test]
fn retired_versions_are_410_and_unknown_versions_404() {
    for_each_database_with(&[("GUERDON_HTTP__RETIRED_VERSIONS", "v0")], |service| {
        for (path, status) in
            [("/v0/companies", 410), ("/v2/companies", 404), ("/companies", 404), ("/v01/x", 404)]
        {
            service.running.send_request("GET", path, &[], None).expect_error(status);
        }
    });
}

#[test]
fn maintenance_returns_503_within_a_second_and_health_stays_available() {
    for_each_database(|service| {
        let sample = SampleCompany::create(service, 0);
        let path = format!("/v1/companies/{}", sample.company);
        let becomes = |status: u16| {
            wait_at_most(Duration::from_secs(1), "the change took longer than a second", || {
                (service.get(&sample.provider, &path).status == status).then_some(())
            });
        };
        service.run_json_command(&["maintenance", "on"]);
        becomes(503);
        let response = service.running.send_request("GET", "/v9/x", &[], None);
        response.expect_error(503);
        assert!(response.header("retry-after").unwrap().parse::<u32>().unwrap() >= 1);
        assert_eq!(
            (
                service.running.operator_page_status("/healthz"),
                service.running.operator_page_status("/readyz")
            ),
            (200, 200)
        );
        service.run_json_command(&["maintenance", "off"]);
        becomes(200);
    });
}

#[test]
fn rate_limits_return_429_with_their_headers() {
    let settings = [
        ("GUERDON_RATE_LIMIT__REQUESTS_PER_SECOND", "1"),
        ("GUERDON_RATE_LIMIT__BURST", "5"),
        ("GUERDON_RATE_LIMIT__FAILED_LOGINS_PER_MINUTE", "3"),
    ];
    for_each_database_with(&settings, |service| {
        let (busy, quiet) = (service.create_provider("Busy", true), service.create_provider("Quiet", true));
        let first = service.get(&busy, "/v1/companies/example.com");
        assert_eq!(first.status, 404);
        assert!(first.header("ratelimit-policy").unwrap().contains("q=5"), "{:?}", first.headers);
        assert!(first.header("ratelimit").unwrap().contains("r=4"), "{:?}", first.headers);
        let statuses: Vec<u16> =
            (0..8).map(|_| service.get(&busy, "/v1/companies/example.com").status).collect();
        assert!(statuses.contains(&429), "{statuses:?}");
        let refused = wait_until("a request should be refused", || {
            Some(service.get(&busy, "/v1/nowhere")).filter(|response| response.status == 429)
        });
        let limited = format!("refusing requests with 429 provider_id={}", busy.id);
        service.wait_for_log(&limited);
        assert!(refused.header("retry-after").unwrap().parse::<u32>().unwrap() >= 1);
        assert_eq!(service.get(&quiet, "/v1/companies/example.com").status, 404);
        let mut wrong = quiet.clone();
        wrong.api_secret.push('x');
        let statuses: Vec<u16> = (0..4).map(|_| service.get(&wrong, "/v1/nowhere").status).collect();
        assert_eq!(statuses, [401, 401, 401, 429]);
        let bare = |_| service.running.send_request("GET", "/v1/nowhere", &[], None).status;
        assert!((0..20).map(bare).all(|status| status == 401));
    });
}
