//! Commands that need no database.

use guerdon_domain::ports::Timestamp;
use guerdon_webhooks::sign;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::service::{CommandOutput, TestService};
use crate::support::{SampleCompany, for_each_database};

const URL: &str = "https://example.com/hook";
const SECRET: &str = "gw_0123456789abcdef";
const NONCE: &str = "cbebb86099222c806dd026d4f0d16547";
const BODY: &str = r#"{"type":"recognition.received","version":"1.0","data":{"message":"Grüße"}}"#;

/// The output of `webhook verify` for a delivery that is signed now and then changed in one part.
fn run_webhook_verify(
    service: &TestService,
    url: &str,
    secret: &str,
    headers: impl Fn(String) -> String,
    body: &str,
) -> CommandOutput {
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
    service.run_command(&[
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
    for_each_database(|service| {
        let same = |headers: String| headers;
        let valid = run_webhook_verify(service, URL, SECRET, same, BODY);
        assert_eq!(
            (valid.status, serde_json::from_str(&valid.stdout).ok()),
            (0, Some(json!({"valid": true})))
        );
        let marked = |headers: String| headers.lines().map(|line| format!("< {line}\r\n")).collect();
        assert_eq!(run_webhook_verify(service, URL, SECRET, marked, BODY).status, 0, "as curl -v prints it");
        let check = |printed: CommandOutput, part: &str| {
            let verdict: serde_json::Value = serde_json::from_str(&printed.stdout).unwrap();
            assert_eq!(
                (printed.status, &verdict["valid"], &verdict["part"]),
                (1, &json!(false), &json!(part)),
                "{verdict}"
            );
            assert!(verdict["hint"].as_str().unwrap().len() > 20, "{verdict}");
        };
        check(run_webhook_verify(service, "https://example.com/hook/", SECRET, same, BODY), "url");
        check(run_webhook_verify(service, URL, "gw_other", same, BODY), "secret or body");
        check(run_webhook_verify(service, URL, "gs_other", same, BODY), "secret");
        check(run_webhook_verify(service, URL, SECRET, same, &BODY.replace(":", ": ")), "body");
        check(
            run_webhook_verify(service, URL, SECRET, |headers| headers.replace("nonce", "once"), BODY),
            "nonce",
        );
        let length = |headers: String| format!("{headers}Content-Length: {}\n", BODY.len());
        check(run_webhook_verify(service, URL, SECRET, length, "{}"), "body");
        let missing = service.run_command(&["webhook", "verify", "--url", URL, "--shared-secret", SECRET]);
        assert_eq!(missing.status, 2);
    });
}

#[test]
fn only_a_running_service_is_healthy() {
    for_each_database(|service| {
        let at = service.running.operator_url.split("://").nth(1).unwrap().to_owned();
        let check_health = |service: &TestService, at: &str| {
            let result = service
                .build_command()
                .env("GUERDON_OPERATOR__LISTEN", at)
                .arg("healthcheck")
                .output()
                .unwrap();
            (result.status.code(), String::from_utf8(result.stderr).unwrap())
        };
        assert_eq!(check_health(service, &at), (Some(0), String::new()));
        service.running.kill().unwrap();
        let (status, output) = check_health(service, &at);
        assert_eq!(status, Some(1));
        assert!(output.contains("no response from http://127.0.0.1:"), "{output}");
        service.restart();
    });
}

#[test]
fn completions_and_manual_pages_are_generated() {
    for_each_database(|service| {
        for shell in ["bash", "zsh", "fish"] {
            let printed = service.run_command(&["completions", shell]);
            assert!(
                printed.status == 0 && printed.stdout.contains("distribution"),
                "{shell}: {}",
                printed.stderr
            );
        }
        let page = service.run_command(&["man"]);
        assert!(page.status == 0 && page.stdout.contains(".TH guerdon 1"), "{}", page.stdout);
    });
}

#[test]
fn an_operator_finds_companies_users_and_events() {
    for_each_database(|service| {
        let sample = SampleCompany::create(service, 2);
        sample.fund_peer_wallets(service, 10);
        let all = service.run_json_command(&["company", "list"]);
        let company = service.run_json_command(&["company", "show", &sample.company]);
        let path = format!("/v1/companies/{}", sample.company);
        assert_eq!((&all[0], &company), (&company, &service.get(&sample.provider, &path).json()));
        assert_eq!(service.run_json_command(&["company", "list", "--provider", &sample.provider.id]), all);
        let users = service.run_json_command(&["user", "list", "--company", &sample.company]);
        let mut user = service.run_json_command(&["user", "show", &sample.users[1]]);
        assert_eq!(user.as_object_mut().unwrap().remove("wallets").unwrap()[1]["points"], 10);
        assert_eq!((users.as_array().unwrap().len(), &users[2]), (3, &user));
        let events = || service.run_json_command(&["event", "list", "--since", "1h"]);
        for to in &sample.users {
            assert_eq!(sample.send_recognition(service, &sample.company, &[to], 0).status, 400);
        }
        assert_eq!(events(), json!([]));
        sample.deposit_points(service, 10);
        for to in &sample.users {
            assert_eq!(sample.send_recognition(service, &sample.company, &[to], 1).status, 201);
        }
        let listed = events();
        assert_eq!(service.run_json_command(&["event", "list", "--limit", "1"])[0], listed[0]);
        let oldest = service.run_command(&["--output", "json", "event", "list", "--limit", "1", "--oldest"]);
        let oldest_listed: Value = serde_json::from_str(&oldest.stdout).unwrap();
        assert_eq!(Some(&oldest_listed[0]), listed.as_array().unwrap().last());
        let provider = listed[0]["provider_id"].as_str().unwrap();
        let two_oldest = ["event", "list", "--limit", "2", "--oldest", "--provider", provider];
        let all = listed.as_array().unwrap();
        assert_eq!(service.run_json_command(&two_oldest), json!(all[all.len() - 2..]));
        assert!(oldest.stderr.contains("there may be more than 1 event: use --limit"), "{}", oldest.stderr);
        let newest = service.run_json_command(&["event", "show", listed[0]["id"].as_str().unwrap()]);
        assert_eq!(newest["body"]["data"]["receiver_id"], json!(sample.users[1]));
        assert_eq!((&newest["attempts"], &newest["state"]), (&json!([]), &json!("unaddressed")));
        for words in [&["company", "show"], &["user", "show"], &["event", "show"]] {
            let absent =
                service.run_command(&[&words[..], &["00000000-0000-7000-8000-000000000000"]].concat());
            assert!(absent.status == 1 && absent.stderr.contains("has th"), "{words:?}: {}", absent.stderr);
        }
        assert_eq!(
            service.run_json_command(&["maintenance", "status"]),
            json!({"maintenance": "off", "since": null})
        );
        service.run_json_command(&["maintenance", "on"]);
        let status = service.run_json_command(&["maintenance", "status"]);
        assert!(status["maintenance"] == "on" && status["since"].is_string(), "{status}");
        service.run_json_command(&["maintenance", "off"]);
    });
}
