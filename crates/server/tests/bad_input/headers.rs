//! Content types and encodings, methods, and bodies on endpoints that do not read one (behaviour 2.2, 2.6).

use std::collections::BTreeMap;

use super::on_bench;
use crate::support::wire::Dialer;

#[test]
fn only_unencoded_json_in_utf_8_is_accepted() {
    on_bench(|bench| {
        for endpoint in bench.endpoints() {
            let ask = |headers: &[(&str, &str)]| {
                let mut all = vec![("Authorization", bench.authorization.as_str())];
                all.extend_from_slice(headers);
                let body = endpoint.body().to_string();
                bench.service.running.request(endpoint.method, &endpoint.path, &all, Some(&body))
            };
            bench.unchanged(|| {
                for refused in REFUSED_TYPES {
                    let answer = ask(&[("Content-Type", refused)]);
                    assert_eq!(answer.status, 400, "{} {refused}", endpoint.path);
                    assert!(answer.error(400).contains("Content-Type"), "{}", answer.body);
                }
                ask(&[("Content-Type", "application/json"), ("Content-Type", "application/json")]).error(400);
                for encoding in ["gzip", "deflate", "br", "zstd", "identity", "x", "gzip, br"] {
                    let answer = ask(&[("Content-Type", "application/json"), ("Content-Encoding", encoding)]);
                    assert!(answer.error(400).contains("Content-Encoding"), "{}", answer.body);
                }
            });
            for taken in [
                "application/json",
                "Application/JSON",
                "application/json;charset=utf-8",
                "application/json; charset=\"UTF-8\"",
                "application/json ; charset=Utf-8",
            ] {
                let answer = ask(&[("Content-Type", taken)]);
                assert_eq!(answer.status, endpoint.success(), "{} {taken}: {}", endpoint.path, answer.body);
            }
            let answer = ask(&[]);
            assert_eq!(
                answer.status,
                endpoint.success(),
                "{} without a type: {}",
                endpoint.path,
                answer.body
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
    "application/json; charset=utf-16",
    "application/json; charset=us-ascii",
    "application/json; charset=",
    "application/json, text/plain",
    "",
];

#[test]
fn a_known_path_with_another_method_is_405_with_its_methods() {
    on_bench(|bench| {
        let mut patterns: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for route in guerdon_http_api::ROUTES {
            patterns.entry(route.pattern).or_default().push(route.method);
        }
        bench.unchanged(|| {
            for (pattern, methods) in patterns {
                let path = pattern.replace("{id}", &bench.sample.company);
                for method in
                    ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "PROPFIND", "get", "XYZ"]
                {
                    let known = if method == "HEAD" { "GET" } else { method };
                    if methods.contains(&known) {
                        continue;
                    }
                    let answer = bench.call(method, &path, None);
                    assert_eq!(answer.status, 405, "{method} {path}: {}", answer.body);
                    let mut allowed: Vec<&str> = answer.header("allow").unwrap().split(", ").collect();
                    allowed.retain(|method| *method != "HEAD" || !methods.contains(&"GET"));
                    let mut expected = methods.clone();
                    allowed.sort_unstable();
                    expected.sort_unstable();
                    assert_eq!(allowed, expected, "{method} {path}");
                    if method != "HEAD" {
                        answer.error(405);
                    }
                    assert_eq!(answer.header("access-control-allow-origin"), None);
                }
            }
        });
    });
}

#[test]
fn head_responds_like_get_without_the_body() {
    on_bench(|bench| {
        for route in guerdon_http_api::ROUTES.iter().filter(|route| route.method == "GET") {
            let sent =
                bench.sample.send(bench.service, &bench.sample.company, &[&bench.sample.users[1]], 1).json();
            let event = sent["recognitions"][0]["id"].as_str().unwrap();
            let id = match route.pattern.split('/').nth(2).unwrap() {
                "companies" => &bench.sample.company,
                "corporations" => &bench.corporation,
                "occasions" => &bench.sample.occasion,
                "events" => event,
                _ => &bench.sample.users[0],
            };
            let query = if route.pattern == "/v1/events" { "?limit=1" } else { "?type=user_wallet" };
            let path = route.pattern.replace("{id}", id) + query;
            let (head, get) = (bench.call("HEAD", &path, None), bench.get(&path));
            assert_eq!((head.status, head.body.as_str()), (200, ""), "{path}");
            assert_eq!(get.status, 200, "{path}: {}", get.body);
            for name in ["content-type", "content-length", "link", "cache-control"] {
                assert_eq!(head.header(name), get.header(name), "{path} {name}");
            }
        }
        let absent = bench.call("HEAD", "/v1/users/0193a5c0-0000-7000-8000-000000000001", None);
        assert_eq!((absent.status, absent.body.as_str()), (404, ""));
    });
}

#[test]
fn a_body_is_ignored_if_the_endpoint_reads_none() {
    on_bench(|bench| {
        let dialer = Dialer::new(bench.service);
        for (method, path, status) in [
            ("GET", format!("/v1/users/{}", bench.owner), "HTTP/1.1 200"),
            ("GET", "/v1/companies".to_owned(), "HTTP/1.1 200"),
            ("DELETE", format!("/v1/users/{}", bench.spare_user), "HTTP/1.1 204"),
            ("DELETE", format!("/v1/occasions/{}", bench.spare_occasion), "HTTP/1.1 204"),
        ] {
            let head = format!(
                "{method} {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: {}",
                bench.authorization
            );
            let request =
                format!("{head}\r\nContent-Type: text/plain\r\nContent-Length: 9\r\n\r\n{{not JSON");
            let answer = dialer.dial().unwrap().ask(request.as_bytes()).unwrap();
            assert!(answer.starts_with(status), "{method} {path}: {answer}");
        }
    });
}
