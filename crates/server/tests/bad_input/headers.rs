//! Content types and encodings, methods, and bodies on endpoints that do not read one (behaviour 2.2, 2.6).

use std::collections::BTreeMap;

use super::endpoints::Endpoint;
use super::for_each_input_fixture;

#[test]
fn only_unencoded_json_in_utf_8_is_accepted() {
    for_each_input_fixture(|fixture| {
        let send_with_headers = |endpoint: &Endpoint, headers: &[(&str, &str)]| {
            let mut all = vec![("Authorization", fixture.authorization.as_str())];
            all.extend_from_slice(headers);
            let body = endpoint.valid_body().to_string();
            fixture.service.running.send_request(endpoint.method, &endpoint.path, &all, Some(&body))
        };
        let endpoints = fixture.endpoints();
        fixture.assert_nothing_changes(|| {
            for endpoint in &endpoints {
                for refused in REFUSED_TYPES {
                    let response = send_with_headers(endpoint, &[("Content-Type", refused)]);
                    assert_eq!(response.status, 400, "{} {refused}", endpoint.path);
                    assert!(response.expect_error(400).contains("Content-Type"), "{}", response.body);
                }
                let json = ("Content-Type", "application/json");
                send_with_headers(endpoint, &[json, json]).expect_error(400);
                for encoding in ["gzip", "deflate", "br", "zstd", "identity", "x", "gzip, br"] {
                    let response = send_with_headers(endpoint, &[json, ("Content-Encoding", encoding)]);
                    assert!(response.expect_error(400).contains("Content-Encoding"), "{}", response.body);
                }
            }
        });
        for endpoint in &endpoints {
            for taken in [
                "application/json",
                "Application/JSON",
                "application/json;charset=utf-8",
                "application/json; charset=\"UTF-8\"",
                "application/json ; charset=Utf-8",
                "application/json; charset = utf-8",
            ] {
                let response = send_with_headers(endpoint, &[("Content-Type", taken)]);
                assert_eq!(
                    response.status,
                    endpoint.success_status(),
                    "{} {taken}: {}",
                    endpoint.path,
                    response.body
                );
            }
            let response = send_with_headers(endpoint, &[]);
            assert_eq!(
                response.status,
                endpoint.success_status(),
                "{} without a type: {}",
                endpoint.path,
                response.body
            );
        }
    });
}

const REFUSED_TYPES: &[&str] = &[
    "text/plain",
    "text/json",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "application/xml",
    "application/jsonp",
    "application/problem+json",
    "application/json-patch+json",
    "application/octet-stream",
    "*/*",
    "json",
    "application",
    "application/json; charset=latin1",
    "application/json; charset =latin1",
    "application/json; charset=utf-16",
    "application/json; charset=us-ascii",
    "application/json; charset=",
    "application/json, text/plain",
    "",
];

#[test]
fn a_known_path_with_another_method_is_405_with_its_methods() {
    for_each_input_fixture(|fixture| {
        let mut patterns: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for route in guerdon_http_api::ROUTES {
            patterns.entry(route.pattern).or_default().push(route.method);
        }
        fixture.assert_nothing_changes(|| {
            for (pattern, methods) in patterns {
                let path = pattern.replace("{id}", &fixture.sample.company);
                for method in
                    ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "PROPFIND", "get", "XYZ"]
                {
                    let known = if method == "HEAD" { "GET" } else { method };
                    if methods.contains(&known) {
                        continue;
                    }
                    let response = fixture.send_request(method, &path, None);
                    assert_eq!(response.status, 405, "{method} {path}: {}", response.body);
                    let mut allowed: Vec<&str> = response.header("allow").unwrap().split(", ").collect();
                    allowed.retain(|method| *method != "HEAD" || !methods.contains(&"GET"));
                    let mut expected = methods.clone();
                    allowed.sort_unstable();
                    expected.sort_unstable();
                    assert_eq!(allowed, expected, "{method} {path}");
                    if method != "HEAD" {
                        response.expect_error(405);
                    }
                    assert_eq!(response.header("access-control-allow-origin"), None);
                }
            }
        });
    });
}

#[test]
fn head_responds_like_get_without_the_body() {
    for_each_input_fixture(|fixture| {
        for route in guerdon_http_api::ROUTES.iter().filter(|route| route.method == "GET") {
            let sent = fixture
                .sample
                .send_recognition(fixture.service, &fixture.sample.company, &[&fixture.sample.users[1]], 1)
                .json();
            let event = sent["recognitions"][0]["id"].as_str().unwrap();
            let id = match route.pattern.split('/').nth(2).unwrap() {
                "companies" => &fixture.sample.company,
                "corporations" => &fixture.corporation,
                "occasions" => &fixture.sample.occasion,
                "events" | "recognitions" => event,
                _ => &fixture.sample.users[0],
            };
            let query = if route.pattern == "/v1/events" { "?limit=1" } else { "?type=user_wallet" };
            let path = route.pattern.replace("{id}", id) + query;
            let (head, get) = (fixture.send_request("HEAD", &path, None), fixture.get(&path));
            assert_eq!((head.status, head.body.as_str()), (200, ""), "{path}");
            assert_eq!(get.status, 200, "{path}: {}", get.body);
            for name in ["content-type", "content-length", "link", "cache-control"] {
                assert_eq!(head.header(name), get.header(name), "{path} {name}");
            }
        }
        let absent = fixture.send_request("HEAD", "/v1/users/0193a5c0-0000-7000-8000-000000000001", None);
        assert_eq!((absent.status, absent.body.as_str()), (404, ""));
    });
}

#[test]
fn a_body_is_ignored_if_the_endpoint_reads_none() {
    for_each_input_fixture(|fixture| {
        let connector = fixture.service.running.https();
        for (method, path, status) in [
            ("GET", format!("/v1/users/{}", fixture.owner), "HTTP/1.1 200"),
            ("GET", "/v1/companies".to_owned(), "HTTP/1.1 200"),
            ("DELETE", format!("/v1/users/{}", fixture.spare_user), "HTTP/1.1 204"),
            ("DELETE", format!("/v1/occasions/{}", fixture.spare_occasion), "HTTP/1.1 204"),
        ] {
            let head = format!(
                "{method} {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: {}",
                fixture.authorization
            );
            let request =
                format!("{head}\r\nContent-Type: text/plain\r\nContent-Length: 9\r\n\r\n{{not JSON");
            let response = connector.connect().unwrap().send_request(request.as_bytes()).unwrap().to_string();
            assert!(response.starts_with(status), "{method} {path}: {response}");
        }
    });
}
