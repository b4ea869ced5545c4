//! Two services on one PostgreSQL share the deliveries.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use guerdon_persistence::testing::each;

use super::metrics::metric_at;
use super::{LOCAL, Post};
use crate::support::receiver::Arrival;
use crate::support::service::{Running, Service, basic};
use crate::support::until;
use crate::support::wire::Dialer;

const USERS: usize = 26;
const EVENTS: usize = 500;
const DELIVERED: &str = r#"guerdon_webhook_attempts_total{result="delivered"}"#;
/// Events that a process can have sent but not settled when it dies.
const IN_FLIGHT: usize = 32;

/// On PostgreSQL only: the embedded database is used by one process.
fn with_two(test: impl Fn(&mut Service, Running)) {
    for database in each().into_iter().filter(|database| !database.is_embedded()) {
        let mut service = Service::start(database, &LOCAL);
        let other = service.beside();
        test(&mut service, other);
        assert_eq!(service.guerdon(&["verify"]).status, 0);
    }
}

#[test]
fn two_services_never_deliver_the_same_event() {
    with_two(|service, other| {
        let post = Post::make(service, USERS);
        queue(&post, [&service.running, &other], EVENTS);
        let arrivals = post.receiver.take(EVENTS);
        assert_eq!(distinct(&arrivals), EVENTS);
        let by = [&service.running, &other].map(|process| metric_at(&process.operator, DELIVERED).unwrap());
        eprintln!("{EVENTS} events: {} by one, {} by the other", by[0], by[1]);
        until("all should be settled", || {
            (service.database.count("deliveries WHERE state = 2") == 500).then_some(())
        });
        assert_eq!(service.database.count("attempts"), 500);
        assert_eq!(post.receiver.so_far().len(), 0);
    });
}

#[test]
fn the_events_of_a_dead_service_are_delivered_by_the_other() {
    with_two(|service, mut other| {
        let post = Post::make(service, USERS);
        let id = post.sample.provider.id.as_str();
        let set = |value: &str| service.json(&["provider", "set", id, "--suspended", value]);
        post.sample.deposit(service, 100);
        set("true"); // so that all events wait
        for (user, _) in post.sample.users.iter().zip(0..10) {
            service.json(&["wallet", "override", user, "--wallet", "user_wallet", "--points", "9"]);
        }
        for number in 0..40 {
            let user = post.sample.users[number % 10].as_str();
            service.json(&["redemption", "create", user, "--points", "1"]);
        }
        set("false");
        let mut arrivals = post.receiver.take(5);
        other.kill();
        let over = "UPDATE deliveries SET next_attempt_at = now() WHERE lease_id IS NOT NULL";
        service.database.tamper("", over); // simulates that a minute has passed
        until("the remaining events should arrive", || {
            arrivals.extend(post.receiver.so_far());
            (distinct(&arrivals) == 40).then_some(())
        });
        assert!(arrivals.len() <= 40 + IN_FLIGHT, "{}", arrivals.len());
    });
}

#[test]
fn a_service_that_stops_wakes_the_other() {
    with_two(|service, stopping| {
        let post = Post::make(service, 2);
        let body =
            post.sample.recognition("user", &post.sample.users[0], &[&post.sample.users[1]], 1).to_string();
        let request = format!(
            "POST /v1/recognitions HTTP/1.1\r\nHost: localhost\r\nAuthorization: {}\r\nContent-Length: {}\r\n\r\n{body}",
            basic(&post.sample.provider),
            body.len(),
        );
        let dialer = Dialer::of(&stopping, &service.data.path().join("tls/certificate.pem"));
        let mut wires: Vec<_> = (0..7).map(|_| dialer.dial().unwrap()).collect();
        let delivered = metric_at(&stopping.operator, DELIVERED);
        stopping.terminate();
        while stopping.health("/readyz") == 200 {}
        let mut took: Vec<Duration> = Vec::new();
        for wire in &mut wires {
            // The service no longer delivers events, but still responds on open connections.
            let answer = wire.ask(request.as_bytes()).unwrap();
            let answered = Instant::now();
            assert!(answer.starts_with("HTTP/1.1 201"), "{answer}");
            took.push(post.next().at.saturating_duration_since(answered));
        }
        assert_eq!(metric_at(&stopping.operator, DELIVERED), delivered);
        took.sort();
        eprintln!("from the answer by one service to the arrival from the other: {took:?}");
        assert!(took[3] < Duration::from_millis(300), "the median of {took:?}");
    });
}

/// Sends recognitions through both services, with 25 events each.
fn queue(post: &Post, through: [&Running; 2], events: usize) {
    let receivers: Vec<&str> = post.sample.users.iter().skip(1).map(String::as_str).collect();
    let body = post.sample.recognition("user", &post.sample.users[0], &receivers, 1).to_string();
    let authorization = basic(&post.sample.provider);
    let headers = [("Authorization", authorization.as_str()), ("Content-Type", "application/json")];
    std::thread::scope(|scope| {
        for running in through {
            let (headers, body) = (&headers, &body);
            scope.spawn(move || {
                for _ in 0..events / receivers_of(body) / 2 {
                    let answer = running.request("POST", "/v1/recognitions", headers, Some(body));
                    assert_eq!(answer.status, 201, "{}", answer.body);
                }
            });
        }
    });
}

fn receivers_of(body: &str) -> usize {
    let body: serde_json::Value = serde_json::from_str(body).unwrap();
    body["receiver_ids"].as_str().unwrap().split(',').count()
}

fn distinct(arrivals: &[Arrival]) -> usize {
    arrivals.iter().map(Arrival::event_id).collect::<HashSet<_>>().len()
}
