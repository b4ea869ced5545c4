//! The reserve alert, from the crossing of the threshold to its recipients (behaviour 11.7).

mod server;

use std::collections::BTreeMap;
use std::net::TcpListener;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::json;
use server::MailServer;

use crate::support::service::Service;
use crate::support::world::CERTIFICATE;
use crate::support::{Sample, on_each, on_each_with, until, user_body};

/// All recipients of the alert.
const TOLD: [&str; 3] = ["bcc@example.com", "olive@example.com", "second@example.com"];

/// A company with two administrators, an additional recipient, 100 points and an alert threshold of 50.
fn guarded(service: &Service) -> Sample {
    let sample = Sample::make(service, 2);
    let mut admin = user_body(&sample.company, "second");
    admin["company_admin"] = json!(true);
    assert_eq!(service.post(&sample.provider, "/v1/users", &admin).status, 201);
    sample.deposit(service, 100);
    let alert = json!({"reserve_alert": 50, "reserve_bcc": "bcc@example.com"});
    let path = format!("/v1/companies/{}", sample.company);
    assert_eq!(service.put(&sample.provider, &path, &alert).status, 200);
    sample
}

fn pay(service: &Service, sample: &Sample, points: i64) {
    let answer = sample.send(service, &sample.company, &[&sample.users[0]], points);
    assert_eq!(answer.status, 201, "{}", answer.body);
}

#[test]
fn without_a_mail_server_each_mail_is_written_to_a_file() {
    on_each(|service| {
        let sample = guarded(service);
        let folder = service.data.path().join("mail");
        pay(service, &sample, 50); // 50 points remain, which is not below the threshold
        pay(service, &sample, 10); // 40
        pay(service, &sample, 10); // 30: already below
        let first = files(&folder, 3);
        assert_eq!(first.keys().collect::<Vec<_>>(), TOLD);
        for (recipient, texts) in &first {
            assert_eq!(texts.len(), 1, "{recipient}");
            says_what_to_do(&texts[0], &sample, 40, 10);
        }
        sample.deposit(service, 20); // 50
        service.json(&["wallet", "override", &sample.users[1], "--wallet", "user_wallet", "--points", "1"]); // 49
        let second = files(&folder, 6);
        for (recipient, texts) in &second {
            assert_eq!(texts.len(), 2, "{recipient}");
            says_what_to_do(&texts[1], &sample, 49, 1);
        }
        let path = format!("/v1/companies/{}", sample.company);
        for alert in [json!({"reserve_alert": 49}), json!({"reserve_alert": 60})] {
            assert_eq!(service.put(&sample.provider, &path, &alert).status, 200); // a new threshold can cross it too
        }
        assert_eq!(files(&folder, 9).len(), 3);
        assert_eq!(service.database.count("mails"), 9);
    });
}

fn says_what_to_do(text: &str, sample: &Sample, left: i64, missing: i64) {
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    assert!(head.contains(&format!("\r\nSubject: Example: {left} points left in the reserve\r\n")), "{head}");
    assert!(head.contains("\r\nContent-Type: text/plain; charset=utf-8"), "{head}");
    assert!(body.contains(&format!("is at {left} points")), "{body}");
    assert!(body.contains("What to do: have points added to the reserve."), "{body}");
    assert!(
        body.contains(&format!("at least {missing} points for the company {}", sample.company)),
        "{body}"
    );
}

/// The mails in the folder by recipient, oldest first, as soon as it contains `count` mails.
fn files(folder: &Path, count: usize) -> BTreeMap<String, Vec<String>> {
    let mut names = until("the mails should be in the folder", || {
        let all =
            std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let whole = all.filter(|name| name.ends_with(".eml") && !name.starts_with('.'));
        let names: Vec<String> = whole.collect();
        (names.len() >= count).then_some(names)
    });
    assert_eq!(names.len(), count);
    names.sort();
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for name in names {
        let text = decoded(&std::fs::read_to_string(folder.join(name)).unwrap());
        let to = text.split("\r\nTo: ").nth(1).unwrap().split("\r\n").next().unwrap();
        found.entry(to.to_owned()).or_default().push(text);
    }
    found
}

/// Decodes quoted-printable text, for ASCII only.
fn decoded(text: &str) -> String {
    text.replace("=\r\n", "").replace("=3D", "=")
}

#[test]
fn alerts_wait_while_the_mail_server_is_unavailable() {
    let away = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = away.local_addr().unwrap().port();
    drop(away);
    let url = format!("smtp://127.0.0.1:{port}");
    let settings =
        [("GUERDON_MAIL__SMTP_URL", url.as_str()), ("GUERDON_MAIL__FROM", "Guerdon <points@example.com>")];
    on_each_with(&settings, |service| {
        let sample = guarded(service);
        let began = Instant::now();
        for _ in 0..4 {
            pay(service, &sample, 51);
            sample.deposit(service, 51);
        }
        assert!(began.elapsed() < Duration::from_secs(5), "no request waits for the mail server");
        until("the mail should have a failed attempt", || (failed(service) > 0).then_some(()));
        assert_eq!(service.database.count("mails WHERE state = 1"), 12);
        service.running.kill();
        let due = "UPDATE mails SET next_attempt_at = created_at WHERE state = 1";
        service.database.tamper(due, due); // simulates that the delay has passed
        let server = MailServer::start(port);
        service.restart();
        let mut told: BTreeMap<String, usize> = BTreeMap::new();
        for _ in 0..12 {
            let mail = server.next();
            assert_eq!(mail.from, "points@example.com");
            assert!(mail.text.starts_with("From: Guerdon <points@example.com>\r\n"), "{}", mail.text);
            assert!(mail.text.contains(&format!("\r\nTo: {}\r\n", mail.to)), "{}", mail.text);
            says_what_to_do(&decoded(&mail.text), &sample, 49, 1);
            *told.entry(mail.to).or_default() += 1;
        }
        assert_eq!(told, TOLD.map(|recipient| (recipient.to_owned(), 4)).into());
        until("all mails should be sent", || {
            (service.database.count("mails WHERE state = 2") == 12).then_some(())
        });
        pay(service, &sample, 51); // later mails are new ones
        for _ in 0..3 {
            assert!(TOLD.contains(&server.next().to.as_str()));
        }
        until("all mails should be sent", || {
            (service.database.count("mails WHERE state = 2") == 15).then_some(())
        });
        assert_eq!(server.so_far(), 0);
    });
}

fn failed(service: &Service) -> i64 {
    service.database.count("mails WHERE attempts > 0")
}

#[test]
fn administrators_are_notified_once_of_an_expired_certificate() {
    on_each(|service| {
        let sample = Sample::make(service, 1);
        let saml = json!({"idp_id": "https://idp.example", "idp_url": "https://idp.example/sso",
            "idp_certificate": CERTIFICATE, "active": true});
        let path = format!("/v1/companies/{}/saml", sample.company);
        assert_eq!(service.put(&sample.provider, &path, &saml).status, 200);
        for _ in 0..2 {
            service.running.kill();
            service.restart();
            until("one certificate should be counted", || {
                let page = service.running.page("/metrics").2;
                page.lines().any(|line| line == "guerdon_saml_certificates_ending 1").then_some(())
            });
            // A killed process may have been sending the mail, so wait until its lease ends.
            until("the mail should be sent", || {
                (service.database.count("mails WHERE state = 2") == 1).then_some(())
            });
            assert_eq!(service.database.count("mails"), 1);
            let told = files(&service.data.path().join("mail"), 1);
            let mail = &told["olive@example.com"][0];
            assert!(mail.contains("the certificate of single sign-on has ended"), "{mail}");
        }
    });
}
