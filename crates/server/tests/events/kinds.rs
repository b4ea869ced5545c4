//! Every kind of event: its exact body, its headers and its signature.

use serde_json::{Value, json};

use super::{ALLOW_LOCAL_RECEIVERS, WebhookFixture};
use crate::support::for_each_database_with;
use crate::support::receiver::{DeliveredEvent as _, ReceivedRequest};
use crate::support::service::TestService;

#[test]
fn a_recognition_by_a_user_has_an_exact_event_per_receiver() {
    for_each_database_with(&ALLOW_LOCAL_RECEIVERS, |service| {
        let fixture = WebhookFixture::create(service, 4);
        let users = &fixture.sample.users;
        let recognitions = fixture.send_recognitions(service, &[&users[1], &users[2], &users[3]]);
        let mut arrivals: Vec<ReceivedRequest> = (0..3).map(|_| fixture.next()).collect();
        arrivals.sort_by_key(|arrival| arrival.json()["data"]["receiver_email"].to_string());
        for (recognition, arrival) in recognitions.iter().zip(&arrivals) {
            let sender = (json!("u0 Doe"), json!("u0@example.com"));
            let number = users.iter().position(|user| *user == recognition["receiver_id"]).unwrap();
            assert_eq!(
                arrival.body_text(),
                recognition_event_body(
                    "recognition.received",
                    recognition,
                    &sender,
                    number,
                    &recognition["message"]
                )
            );
            assert_eq!(recognition["message"], "Thank you");
            assert_headers(arrival, &fixture);
        }
        let mut ids: Vec<&str> = arrivals.iter().map(ReceivedRequest::event_id).collect();
        ids.dedup();
        assert_eq!(ids.len(), 3);
    });
}

#[test]
fn events_omit_company_emails_and_private_messages() {
    for_each_database_with(&ALLOW_LOCAL_RECEIVERS, |service| {
        let fixture = WebhookFixture::create(service, 2);
        fixture.sample.deposit_points(service, 100);
        let sender = (json!("Example"), Value::Null);
        for (message, share) in [("Grüße, \"Ada\"\n\tund <b>Dank</b> \u{2028}🎉/\\", true), ("geheim", false)]
        {
            let recognition = send_company_recognition(service, &fixture, message, share);
            let expected_message = if share { json!(message) } else { Value::Null };
            let arrival = fixture.next();
            assert_eq!(
                arrival.body_text(),
                recognition_event_body("recognition.received", &recognition, &sender, 1, &expected_message)
            );
            assert!(!arrival.body_text().contains("geheim"));
        }
    });
}

fn send_company_recognition(
    service: &TestService,
    fixture: &WebhookFixture,
    message: &str,
    share: bool,
) -> Value {
    let mut body =
        fixture.sample.recognition_body("company", &fixture.sample.company, &[&fixture.sample.users[1]], 7);
    body["message"] = json!(message);
    body["share"] = json!(share);
    let response = service.post(&fixture.sample.provider, "/v1/recognitions", &body);
    assert_eq!(response.status, 201, "{}", response.body);
    response.json()["recognitions"][0].clone()
}

#[test]
fn only_updates_with_changes_emit_events() {
    for_each_database_with(&ALLOW_LOCAL_RECEIVERS, |service| {
        let fixture = WebhookFixture::create(service, 2);
        let mut recognition = fixture.send_recognition(service);
        let received = fixture.next();
        let id = recognition["id"].as_str().unwrap().to_owned();
        let update =
            |words: &[&str]| service.run_json_command(&[&["recognition", "update", &id], words].concat());
        let sender = (json!("u0 Doe"), json!("u0@example.com"));
        let updated = |recognition: &Value, message: &Value| {
            recognition_event_body("recognition.updated", recognition, &sender, 1, message)
        };

        recognition["message"] = json!("Well done");
        assert_eq!(update(&["--message", "Well done"]), recognition);
        let arrival = fixture.next();
        assert_eq!(arrival.body_text(), updated(&recognition, &json!("Well done")));
        assert_ne!(arrival.event_id(), received.event_id());
        assert_headers(&arrival, &fixture);

        assert_eq!(update(&["--message", "Well done", "--share", "true"]), recognition); // nothing changes
        recognition["share"] = json!(false);
        assert_eq!(update(&["--share", "false"]), recognition);
        assert_eq!(fixture.next().body_text(), updated(&recognition, &Value::Null));
        assert_eq!(fixture.list_events(service).len(), 3);
    });
}

#[test]
fn a_redemption_event_contains_the_total_and_nothing_else_emits_events() {
    for_each_database_with(&ALLOW_LOCAL_RECEIVERS, |service| {
        let fixture = WebhookFixture::create(service, 2);
        let user = fixture.sample.users[1].as_str();
        let redeem = |points: &str| {
            service.run_json_command(&["redemption", "create", user, "--points", points, "--key", points])
        };
        fixture.sample.deposit_points(service, 100);
        service.run_json_command(&["wallet", "override", user, "--wallet", "user_wallet", "--points", "40"]);
        let first = redeem("5");
        assert_eq!((&first["user_id"], &first["points"]), (&json!(user), &json!(5)));
        assert_eq!(fixture.next().body_text(), redemption_body(&fixture, 5, 5));
        assert_eq!(redeem("5"), first); // a retry with the same key
        service.run_json_command(&["redemption", "refund", first["id"].as_str().unwrap()]);
        assert_eq!(service.run_command(&["redemption", "create", user, "--points", "41"]).status, 1);
        redeem("12");
        let arrival = fixture.next();
        assert_eq!(arrival.body_text(), redemption_body(&fixture, 12, 17));
        assert_headers(&arrival, &fixture);
        assert_eq!(fixture.list_events(service).len(), 2);
        assert_eq!(fixture.sample.read_balance(service, user, "user_wallet"), Some(28));
    });
}

#[test]
fn a_url_is_signed_as_it_was_registered() {
    for_each_database_with(&ALLOW_LOCAL_RECEIVERS, |service| {
        let urls =
            ["http://127.0.0.1:{}", "HTTP://127.0.0.1:{}/a/../%7Ehook/?b=%2f&&c", "http://127.0.0.1:{}?x"];
        for url in urls {
            let fixture = WebhookFixture::create_with_url(service, 2, |receiver| {
                url.replace("{}", &receiver.port.to_string())
            });
            fixture.send_recognition(service);
            assert_headers(&fixture.next(), &fixture);
        }
    });
}

fn redemption_body(fixture: &WebhookFixture, points: i64, sum: i64) -> String {
    format!(
        r#"{{"type":"redemption.created","version":"1.0","data":{{"user_id":"{}","user_email":"u1@example.com","points":{points},"cumulative_points_spent":{sum},"company_id":"{}"}}}}"#,
        fixture.sample.users[1], fixture.sample.company
    )
}

/// The expected body of an event about a recognition, for the receiver with this index. `recognition` is the
/// recognition as the API returns it.
fn recognition_event_body(
    kind: &str,
    recognition: &Value,
    sender: &(Value, Value),
    receiver: usize,
    message: &Value,
) -> String {
    let mut body = format!(r#"{{"type":"{kind}","version":"1.0","data":{{"#);
    for key in ["id", "sender_type", "sender_id"] {
        body.push_str(&format!(r#""{key}":{},"#, recognition[key]));
    }
    let (name, email) = sender;
    body.push_str(&format!(
        r#""sender_name":{name},"sender_email":{email},"receiver_id":{},"#,
        recognition["receiver_id"]
    ));
    body.push_str(&format!(
        r#""receiver_name":"u{receiver} Doe","receiver_email":"u{receiver}@example.com","#
    ));
    body.push_str(&format!(r#""occasion_id":{},"occasion_name":"Great job","#, recognition["occasion_id"]));
    body.push_str(&format!(
        r#""points":{},"company_id":{},"#,
        recognition["points"], recognition["company_id"]
    ));
    body.push_str(&format!(
        r#""message":{message},"created_at":{},"share":{}}}}}"#,
        recognition["created_at"], recognition["share"]
    ));
    body
}

/// Checks that exactly these headers are sent, with valid values.
fn assert_headers(arrival: &ReceivedRequest, fixture: &WebhookFixture) {
    let rest = fixture.url.split_once("://").unwrap().1;
    let (authority, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
    let slash = if path.starts_with('/') { "" } else { "/" };
    assert_eq!(arrival.line, format!("POST {slash}{path} HTTP/1.1"));
    let mut names: Vec<String> = arrival.headers.iter().map(|header| header.0.to_lowercase()).collect();
    names.sort();
    let http = ["accept-encoding", "content-length", "content-type", "host", "user-agent"];
    let standard = ["webhook-id", "webhook-signature", "webhook-timestamp"];
    let service = ["x-service-event-id", "x-service-nonce", "x-service-signature", "x-service-timestamp"];
    assert_eq!(names, [&http, &standard[..], &service].concat());
    assert_eq!(arrival.header("Host"), authority);
    assert_eq!(arrival.header("Content-Type"), "application/json");
    assert_eq!(arrival.header("User-Agent"), "Guerdon-Webhooks");
    assert_eq!(arrival.header("Content-Length"), arrival.body.len().to_string());
    let is_hex = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
    let (nonce, signature) = (arrival.header("X-Service-Nonce"), arrival.header("X-Service-Signature"));
    assert!(nonce.len() == 32 && is_hex(nonce), "{nonce}");
    assert!(signature.len() == 64 && is_hex(signature), "{signature}");
    assert!(uuid::Uuid::parse_str(arrival.event_id()).is_ok());
    let timestamp = arrival.header("X-Service-Timestamp");
    assert!(timestamp.len() == 24 && timestamp.ends_with('Z') && &timestamp[19..20] == ".", "{timestamp}");
    arrival.assert_standard_headers(&[&fixture.secret]);
}
