//! The reserve alert: when the reserve falls below the threshold, all recipients get an email (behaviour 11.7).

mod server;

use std::collections::BTreeMap;
use std::net::TcpListener;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::json;
use server::MailServer;

use crate::support::provider_fixture::CERTIFICATE;
use crate::support::service::TestService;
use crate::support::{SampleCompany, for_each_database, for_each_database_with, user_body, wait_until};

/// All recipients of the alert.
const RECIPIENTS: [&str; 3] = ["bcc@example.com", "olive@example.com", "second@example.com"];

/// A company with two administrators, an additional recipient, 100 points and an alert threshold of 50.
fn create_guarded_company(service: &TestService) -> SampleCompany {
    let sample = SampleCompany::create(service, 2);
    let mut admin = user_body(&sample.company, "second");
    admin["company_admin"] = json!(true);
    assert_eq!(service.post(&sample.provider, "/v1/users", &admin).status, 201);
    sample.deposit_points(service, 100);
    let alert = json!({"reserve_alert": 50, "reserve_bcc": "bcc@example.com"});
    let path = format!("/v1/companies/{}", sample.company);
    assert_eq!(service.put(&sample.provider, &path, &alert).status, 200);
    sample
}

fn send_points(service: &TestService, sample: &SampleCompany, points: i64) {
    let response = sample.send_recognition(service, &sample.company, &[&sample.users[0]], points);
    assert_eq!(response.status, 201, "{}", response.body);
}

#[test]
fn without_a_mail_server_each_mail_is_written_to_a_file() {
    for_each_database(|service| {
        let sample = create_guarded_company(service);
        let folder = service.data_dir.path().join("mail");
        send_points(service, &sample, 50); // 50 points remain, which is not below the threshold
        send_points(service, &sample, 10); // 40
        send_points(service, &sample, 10); // 30: already below
        let first = wait_for_mail_files(&folder, 3);
        assert_eq!(first.keys().collect::<Vec<_>>(), RECIPIENTS);
        for (recipient, texts) in &first {
            assert_eq!(texts.len(), 1, "{recipient}");
            assert_alert_text(&texts[0], &sample, 40, 10);
        }
        sample.deposit_points(service, 20); // 50
        service.run_json_command(&[
            "wallet",
            "override",
            &sample.users[1],
            "--wallet",
            "user_wallet",
            "--points",
            "1",
        ]); // 49
        let second = wait_for_mail_files(&folder, 6);
        for (recipient, texts) in &second {
            assert_eq!(texts.len(), 2, "{recipient}");
            assert_alert_text(&texts[1], &sample, 49, 1);
        }
        let path = format!("/v1/companies/{}", sample.company);
        for alert in [json!({"reserve_alert": 49}), json!({"reserve_alert": 60})] {
            assert_eq!(service.put(&sample.provider, &path, &alert).status, 200); // a higher threshold also alerts
        }
        assert_eq!(wait_for_mail_files(&folder, 9).len(), 3);
        assert_eq!(service.database.count_rows("notifications"), 9);
    });
}

fn assert_alert_text(text: &str, sample: &SampleCompany, left: i64, missing: i64) {
    let missing = if missing == 1 { "1 point".to_owned() } else { format!("{missing} points") };
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    assert!(head.contains(&format!("\r\nSubject: Example: {left} points left in the reserve\r\n")), "{head}");
    assert!(head.contains("\r\nContent-Type: text/plain; charset=utf-8"), "{head}");
    assert!(body.contains(&format!("is at {left} points")), "{body}");
    assert!(body.contains("What to do: ask the operator of your recognition service"), "{body}");
    assert!(body.contains(&format!("at least {missing} for the company {}", sample.company)), "{body}");
}

/// Waits until the folder contains `count` emails. Returns the emails by recipient, oldest first.
fn wait_for_mail_files(folder: &Path, count: usize) -> BTreeMap<String, Vec<String>> {
    let mut names = wait_until("the emails should be in the folder", || {
        let all =
            std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let whole = all.filter(|name| name.ends_with(".eml") && !name.starts_with('.'));
        let names: Vec<String> = whole.collect();
        (names.len() >= count).then_some(names)
    });
    assert_eq!(names.len(), count);
    names.sort();
    let mut mails: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for name in names {
        let text = decode_quoted_printable(&std::fs::read_to_string(folder.join(name)).unwrap());
        let to = text.split("\r\nTo: ").nth(1).unwrap().split("\r\n").next().unwrap();
        mails.entry(to.to_owned()).or_default().push(text);
    }
    mails
}

/// Decodes quoted-printable text, for ASCII only.
fn decode_quoted_printable(text: &str) -> String {
    text.replace("=\r\n", "").replace("=3D", "=")
}

#[test]
fn alerts_wait_while_the_mail_server_is_unavailable() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let url = format!("smtp://127.0.0.1:{port}");
    let settings = [
        ("GUERDON_MAIL__SMTP_URL", url.as_str()),
        ("GUERDON_MAIL__FROM", "Guerdon <points@example.com>"),
        ("GUERDON_LOG__LEVEL", "debug"),
    ];
    for_each_database_with(&settings, |service| {
        let sample = create_guarded_company(service);
        // Connections succeed, but nothing is ever sent over them.
        let silent_server = TcpListener::bind(("127.0.0.1", port)).unwrap();
        for _ in 0..4 {
            let started = Instant::now();
            send_points(service, &sample, 51);
            assert!(started.elapsed() < Duration::from_secs(5), "no request waits for the mail server");
            sample.deposit_points(service, 51);
        }
        drop(silent_server); // resets its connections, so the attempt in progress fails
        wait_until("the mail should have a failed attempt", || {
            (count_failed_mails(service) > 0).then_some(())
        });
        assert_eq!(service.database.count_rows("notifications WHERE state = 1"), 12);
        service.running.kill().unwrap();
        let due = "UPDATE notifications SET next_attempt_at = created_at WHERE state = 1";
        service.database.execute_sql(due, due); // simulates that the delay has passed
        let server = MailServer::start(port);
        service.restart();
        let mut mails_by_recipient: BTreeMap<String, usize> = BTreeMap::new();
        for _ in 0..12 {
            let mail = server.next();
            assert_eq!(mail.from, "points@example.com");
            assert!(mail.text.starts_with("From: Guerdon <points@example.com>\r\n"), "{}", mail.text);
            assert!(mail.text.contains(&format!("\r\nTo: {}\r\n", mail.to)), "{}", mail.text);
            assert_alert_text(&decode_quoted_printable(&mail.text), &sample, 49, 1);
            *mails_by_recipient.entry(mail.to).or_default() += 1;
        }
        assert_eq!(mails_by_recipient, RECIPIENTS.map(|recipient| (recipient.to_owned(), 4)).into());
        wait_until("all emails should be sent", || {
            (service.database.count_rows("notifications WHERE state = 2") == 12).then_some(())
        });
        send_points(service, &sample, 51); // later emails are new ones
        for _ in 0..3 {
            assert!(RECIPIENTS.contains(&server.next().to.as_str()));
        }
        wait_until("all emails should be sent", || {
            (service.database.count_rows("notifications WHERE state = 2") == 15).then_some(())
        });
        assert_eq!(server.count_unread_mails(), 0);
        for recipient in RECIPIENTS {
            assert_eq!(service.running.count_in_log(recipient), 0, "{recipient}");
        }
    });
}

fn count_failed_mails(service: &TestService) -> i64 {
    service.database.count_rows("notifications WHERE attempts > 0")
}

#[test]
fn administrators_are_notified_once_of_an_expired_certificate() {
    for_each_database(|service| {
        let sample = SampleCompany::create(service, 1);
        let saml = json!({"idp_id": "https://idp.example", "idp_url": "https://idp.example/sso",
            "idp_certificate": CERTIFICATE, "active": true});
        let path = format!("/v1/companies/{}/saml", sample.company);
        assert_eq!(service.put(&sample.provider, &path, &saml).status, 200);
        for _ in 0..2 {
            service.running.kill().unwrap();
            service.restart();
            wait_until("one certificate should be counted", || {
                let page = service.running.operator_page("/metrics").body;
                page.lines().any(|line| line == "guerdon_saml_certificates_expiring 1").then_some(())
            });
            // A killed process may have been sending the email, so wait until its lease ends.
            wait_until("the mail should be sent", || {
                (service.database.count_rows("notifications WHERE state = 2") == 1).then_some(())
            });
            assert_eq!(service.database.count_rows("notifications"), 1);
            let mails = wait_for_mail_files(&service.data_dir.path().join("mail"), 1);
            let mail = &mails["olive@example.com"][0];
            assert!(mail.contains("the single sign-on certificate has expired"), "{mail}");
        }
    });
}
