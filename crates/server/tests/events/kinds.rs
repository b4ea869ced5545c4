//! Every kind of event: its exact body, its headers and its signature.

use serde_json::{Value, json};

use super::{LOCAL, Post};
use crate::support::on_each_with;
use crate::support::receiver::Arrival;
use crate::support::service::Service;

#[test]
fn a_recognition_by_a_user_has_an_exact_event_per_receiver() {
    on_each_with(&LOCAL, |service| {
        let post = Post::make(service, 4);
        let users = &post.sample.users;
        let made = post.recognise_all(service, &[&users[1], &users[2], &users[3]]);
        let mut arrivals: Vec<Arrival> = (0..3).map(|_| post.next()).collect();
        arrivals.sort_by_key(|arrival| arrival.json()["data"]["receiver_email"].to_string());
        for (recognition, arrival) in made.iter().zip(&arrivals) {
            let sender = (json!("u0 Doe"), json!("u0@example.com"));
            let number = users.iter().position(|user| *user == recognition["receiver_id"]).unwrap();
            assert_eq!(
                arrival.text(),
                body("recognition.received", recognition, &sender, number, &recognition["message"])
            );
            assert_eq!(recognition["message"], "Thank you");
            headers(arrival, &post);
        }
        let mut ids: Vec<&str> = arrivals.iter().map(Arrival::event_id).collect();
        ids.dedup();
        assert_eq!(ids.len(), 3);
    });
}

#[test]
fn events_omit_company_emails_and_private_messages() {
    on_each_with(&LOCAL, |service| {
        let post = Post::make(service, 2);
        post.sample.deposit(service, 100);
        let sender = (json!("Example"), Value::Null);
        for (message, share) in [("Grüße, \"Ada\"\n\tund <b>Dank</b> \u{2028}🎉/\\", true), ("geheim", false)]
        {
            let recognition = from_company(service, &post, message, share);
            let told = if share { json!(message) } else { Value::Null };
            let arrival = post.next();
            assert_eq!(arrival.text(), body("recognition.received", &recognition, &sender, 1, &told));
            assert!(!arrival.text().contains("geheim"));
        }
    });
}

fn from_company(service: &Service, post: &Post, message: &str, share: bool) -> Value {
    let mut body = post.sample.recognition("company", &post.sample.company, &[&post.sample.users[1]], 7);
    body["message"] = json!(message);
    body["share"] = json!(share);
    let answer = service.post(&post.sample.provider, "/v1/recognitions", &body);
    assert_eq!(answer.status, 201, "{}", answer.body);
    answer.json()["recognitions"][0].clone()
}

#[test]
fn only_updates_with_changes_emit_events() {
    on_each_with(&LOCAL, |service| {
        let post = Post::make(service, 2);
        let mut recognition = post.recognise(service);
        let received = post.next();
        let id = recognition["id"].as_str().unwrap().to_owned();
        let update = |words: &[&str]| service.json(&[&["recognition", "update", &id], words].concat());
        let sender = (json!("u0 Doe"), json!("u0@example.com"));
        let updated = |recognition: &Value, message: &Value| {
            body("recognition.updated", recognition, &sender, 1, message)
        };

        recognition["message"] = json!("Well done");
        assert_eq!(update(&["--message", "Well done"]), recognition);
        let arrival = post.next();
        assert_eq!(arrival.text(), updated(&recognition, &json!("Well done")));
        assert_ne!(arrival.event_id(), received.event_id());
        headers(&arrival, &post);

        assert_eq!(update(&["--message", "Well done", "--share", "true"]), recognition); // nothing changes
        recognition["share"] = json!(false);
        assert_eq!(update(&["--share", "false"]), recognition);
        assert_eq!(post.next().text(), updated(&recognition, &Value::Null));
        assert_eq!(post.events(service).len(), 3);
    });
}

#[test]
fn a_redemption_event_contains_the_total_and_nothing_else_emits_events() {
    on_each_with(&LOCAL, |service| {
        let post = Post::make(service, 2);
        let user = post.sample.users[1].as_str();
        let redeem =
            |points: &str| service.json(&["redemption", "create", user, "--points", points, "--key", points]);
        post.sample.deposit(service, 100);
        service.json(&["wallet", "override", user, "--wallet", "user_wallet", "--points", "40"]);
        let first = redeem("5");
        assert_eq!((&first["user_id"], &first["points"]), (&json!(user), &json!(5)));
        assert_eq!(post.next().text(), redemption(&post, 5, 5));
        assert_eq!(redeem("5"), first); // a retry with the same key
        service.json(&["redemption", "refund", first["id"].as_str().unwrap()]);
        assert_eq!(service.guerdon(&["redemption", "create", user, "--points", "41"]).status, 1);
        redeem("12");
        let arrival = post.next();
        assert_eq!(arrival.text(), redemption(&post, 12, 17));
        headers(&arrival, &post);
        assert_eq!(post.events(service).len(), 2);
        assert_eq!(post.sample.shows(service, user, "user_wallet"), Some(28));
    });
}

#[test]
fn a_url_is_signed_as_it_was_registered() {
    on_each_with(&LOCAL, |service| {
        let urls =
            ["http://127.0.0.1:{}", "HTTP://127.0.0.1:{}/a/../%7Ehook/?b=%2f&&c", "http://127.0.0.1:{}?x"];
        for url in urls {
            let post = Post::at(service, 2, |receiver| url.replace("{}", &receiver.port.to_string()));
            post.recognise(service);
            headers(&post.next(), &post);
        }
    });
}

fn redemption(post: &Post, points: i64, sum: i64) -> String {
    format!(
        r#"{{"type":"redemption.created","version":"1.0","data":{{"user_id":"{}","user_email":"u1@example.com","points":{points},"cumulative_points_spent":{sum},"company_id":"{}"}}}}"#,
        post.sample.users[1], post.sample.company
    )
}

/// The expected body of an event about a recognition, given as in the API, for the receiver with this index.
fn body(
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
fn headers(arrival: &Arrival, post: &Post) {
    let rest = post.url.split_once("://").unwrap().1;
    let (authority, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
    let slash = if path.starts_with('/') { "" } else { "/" };
    assert_eq!(arrival.line, format!("POST {slash}{path} HTTP/1.1"));
    let mut names: Vec<String> = arrival.headers.iter().map(|header| header.0.to_lowercase()).collect();
    names.sort();
    let x = ["x-service-event-id", "x-service-nonce", "x-service-signature", "x-service-timestamp"];
    assert_eq!(
        names,
        [&["accept-encoding", "content-length", "content-type", "host", "user-agent"], &x[..]].concat()
    );
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
}
