//! Commands that need no database.

use guerdon_domain::ports::Timestamp;
use guerdon_webhooks::sign;
use serde_json::json;
use tempfile::TempDir;

use crate::support::service::{Printed, Service};
use crate::support::{Sample, on_each};

const URL: &str = "https://example.com/hook";
const SECRET: &str = "gw_0123456789abcdef";
const NONCE: &str = "cbebb86099222c806dd026d4f0d16547";
const BODY: &str = r#"{"type":"recognition.received","version":"1.0","data":{"message":"Grüße"}}"#;

/// The output of `webhook verify` for a delivery that was signed now and changed in one part.
fn judged(
    service: &Service,
    url: &str,
    secret: &str,
    headers: impl Fn(String) -> String,
    body: &str,
) -> Printed {
    let folder = TempDir::new().unwrap();
    let [headers_file, body_file] =
        ["headers", "body"].map(|name| folder.path().join(name).display().to_string());
    std::fs::write(&body_file, body).unwrap();
    let written = std::fs::metadata(&body_file).unwrap().modified().unwrap(); // the current time
    let now = Timestamp::new(written.into()).to_string();
    let signature = sign(SECRET, URL, &now, NONCE, BODY.as_bytes());
    let sent = format!(
        "Content-Type: application/json\nX-Service-Timestamp: {now}\nx-service-nonce: {NONCE}\r\n\
         X-SERVICE-SIGNATURE: {signature}\n"
    );
    std::fs::write(&headers_file, headers(sent)).unwrap();
    service.guerdon(&[
        "--output",
        "json",
        "webhook",
        "verify",
        "--url",
        url,
        "--shared-secret",
        secret,
        "--headers",
        &headers_file,
        "--body",
        &body_file,
    ])
}

#[test]
fn a_delivery_is_verified_or_the_wrong_part_is_named() {
    on_each(|service| {
        let same = |headers: String| headers;
        let valid = judged(service, URL, SECRET, same, BODY);
        assert_eq!((valid.status, serde_json::from_str(&valid.out).ok()), (0, Some(json!({"valid": true}))));
        let marked = |headers: String| headers.lines().map(|line| format!("< {line}\r\n")).collect();
        assert_eq!(judged(service, URL, SECRET, marked, BODY).status, 0, "as curl -v prints it");
        let check = |printed: Printed, part: &str| {
            let told: serde_json::Value = serde_json::from_str(&printed.out).unwrap();
            assert_eq!(
                (printed.status, &told["valid"], &told["part"]),
                (1, &json!(false), &json!(part)),
                "{told}"
            );
            assert!(told["hint"].as_str().unwrap().len() > 20, "{told}");
        };
        check(judged(service, "https://example.com/hook/", SECRET, same, BODY), "url");
        check(judged(service, URL, "gw_other", same, BODY), "secret or body");
        check(judged(service, URL, "gs_other", same, BODY), "secret");
        check(judged(service, URL, SECRET, same, &BODY.replace(":", ": ")), "body");
        check(judged(service, URL, SECRET, |headers| headers.replace("nonce", "once"), BODY), "nonce");
        let length = |headers: String| format!("{headers}Content-Length: {}\n", BODY.len());
        check(judged(service, URL, SECRET, length, "{}"), "body");
        let missing = service.guerdon(&["webhook", "verify", "--url", URL, "--shared-secret", SECRET]);
        assert_eq!(missing.status, 2);
    });
}

#[test]
fn only_a_running_service_is_healthy() {
    on_each(|service| {
        let at = service.running.operator.split("://").nth(1).unwrap().to_owned();
        let ask = |service: &Service, at: &str| {
            let done =
                service.command().env("GUERDON_OPERATOR__LISTEN", at).arg("healthcheck").output().unwrap();
            (done.status.code(), String::from_utf8(done.stderr).unwrap())
        };
        assert_eq!(ask(service, &at), (Some(0), String::new()));
        service.running.kill();
        let (status, told) = ask(service, &at);
        assert_eq!(status, Some(1));
        assert!(told.contains("no response from http://127.0.0.1:"), "{told}");
        service.restart();
    });
}

#[test]
fn completions_and_manual_pages_are_generated() {
    on_each(|service| {
        for shell in ["bash", "zsh", "fish"] {
            let printed = service.guerdon(&["completions", shell]);
            assert!(printed.status == 0 && printed.out.contains("distribution"), "{shell}: {}", printed.err);
        }
        let page = service.guerdon(&["man"]);
        assert!(page.status == 0 && page.out.contains(".TH guerdon 1"), "{}", page.out);
    });
}

#[test]
fn an_operator_finds_companies_users_and_events() {
    on_each(|service| {
        let sample = Sample::make(service, 2);
        sample.fund(service, 10);
        let all = service.json(&["company", "list"]);
        let one = service.json(&["company", "show", &sample.company]);
        let path = format!("/v1/companies/{}", sample.company);
        assert_eq!((&all[0], &one), (&one, &service.get(&sample.provider, &path).json()));
        assert_eq!(service.json(&["company", "list", "--provider", &sample.provider.id]), all);
        let users = service.json(&["user", "list", "--company", &sample.company]);
        let user = service.json(&["user", "show", &sample.users[1]]);
        assert_eq!((users.as_array().unwrap().len(), &users[2]), (3, &user));
        let events = || service.json(&["event", "list", "--since", "1h"]);
        for to in &sample.users {
            assert_eq!(sample.send(service, &sample.company, &[to], 0).status, 400);
        }
        assert_eq!(events(), json!([]));
        sample.deposit(service, 10);
        for to in &sample.users {
            assert_eq!(sample.send(service, &sample.company, &[to], 1).status, 201);
        }
        let listed = events();
        assert_eq!(service.json(&["event", "list", "--limit", "1"])[0], listed[0]);
        let newest = service.json(&["event", "show", listed[0]["id"].as_str().unwrap()]);
        assert_eq!(newest["body"]["data"]["receiver_id"], json!(sample.users[1]));
        assert_eq!((&newest["attempts"], &newest["state"]), (&json!([]), &json!("unaddressed")));
        for words in [&["company", "show"], &["user", "show"], &["event", "show"]] {
            let absent = service.guerdon(&[&words[..], &["00000000-0000-7000-8000-000000000000"]].concat());
            assert!(absent.status == 1 && absent.err.contains("has th"), "{words:?}: {}", absent.err);
        }
        assert_eq!(service.json(&["maintenance", "status"]), json!({"maintenance": "off", "since": null}));
        service.json(&["maintenance", "on"]);
        let status = service.json(&["maintenance", "status"]);
        assert!(status["maintenance"] == "on" && status["since"].is_string(), "{status}");
        service.json(&["maintenance", "off"]);
    });
}
