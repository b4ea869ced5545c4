//! Two services on one PostgreSQL share the deliveries.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use guerdon_persistence::testing::create_databases;

use super::{ALLOW_LOCAL_RECEIVERS, WebhookFixture};
use crate::support::receiver::ReceivedRequest;
use crate::support::service::{ServiceProcess, TestService, basic_authorization};
use crate::support::wait_until;

const USERS: usize = 26;
const EVENTS: usize = 500;
const DELIVERED: &str = r#"guerdon_webhook_attempts_total{result="delivered"}"#;
/// A process's share of the 64 events per provider that may be in flight: two processes share the limit.
const EVENTS_IN_FLIGHT_MAX: usize = 32;

/// Runs a test with two services, on PostgreSQL only, because the embedded database permits only one.
fn for_each_pair(test: impl Fn(&mut TestService, ServiceProcess)) {
    for database in create_databases().into_iter().filter(|database| !database.is_embedded()) {
        let mut service = TestService::start(database, &ALLOW_LOCAL_RECEIVERS);
        let other = service.start_second_process();
        test(&mut service, other);
        assert_eq!(service.run_command(&["verify"]).status, 0);
    }
}

#[test]
fn two_services_never_deliver_the_same_event() {
    for_each_pair(|service, other| {
        let fixture = WebhookFixture::create(service, USERS);
        queue_events(&fixture, [&service.running, &other], EVENTS);
        let arrivals = fixture.receiver.take_requests(EVENTS);
        assert_eq!(count_distinct_events(&arrivals), EVENTS);
        let by = [&service.running, &other].map(|process| process.metric(DELIVERED).unwrap());
        eprintln!("{EVENTS} events: {} by one, {} by the other", by[0], by[1]);
        wait_until("all should be settled", || {
            (service.database.count_rows("deliveries WHERE state = 2") == 500).then_some(())
        });
        assert_eq!(service.database.count_rows("attempts"), 500);
        assert_eq!(fixture.receiver.unread_requests().len(), 0);
    });
}

#[test]
fn the_events_of_a_dead_service_are_delivered_by_the_other() {
    for_each_pair(|service, mut other| {
        let fixture = WebhookFixture::create(service, USERS);
        let id = fixture.sample.provider.id.as_str();
        let set = |value: &str| service.run_json_command(&["provider", "set", id, "--suspended", value]);
        fixture.sample.deposit_points(service, 100);
        set("true"); // so that all events wait
        for (user, _) in fixture.sample.users.iter().zip(0..10) {
            service.run_json_command(&[
                "wallet",
                "override",
                user,
                "--wallet",
                "user_wallet",
                "--points",
                "9",
            ]);
        }
        for number in 0..40 {
            let user = fixture.sample.users[number % 10].as_str();
            service.run_json_command(&["redemption", "create", user, "--points", "1"]);
        }
        set("false");
        let mut arrivals = fixture.receiver.take_requests(5);
        other.kill().unwrap();
        let over = "UPDATE deliveries SET next_attempt_at = now() WHERE lease_id IS NOT NULL";
        service.database.execute_sql("", over); // simulates that a minute has passed
        wait_until("the remaining events should arrive", || {
            arrivals.extend(fixture.receiver.unread_requests());
            (count_distinct_events(&arrivals) == 40).then_some(())
        });
        assert!(arrivals.len() <= 40 + EVENTS_IN_FLIGHT_MAX, "{}", arrivals.len());
    });
}

#[test]
fn a_service_that_stops_wakes_the_other() {
    for_each_pair(|service, stopping| {
        let fixture = WebhookFixture::create(service, 2);
        let body = fixture
            .sample
            .recognition_body("user", &fixture.sample.users[0], &[&fixture.sample.users[1]], 1)
            .to_string();
        let request = format!(
            "POST /v1/recognitions HTTP/1.1\r\nHost: localhost\r\nAuthorization: {}\r\nContent-Length: {}\r\n\r\n{body}",
            basic_authorization(&fixture.sample.provider),
            body.len(),
        );
        let connector = stopping.https();
        let mut connections: Vec<_> = (0..7).map(|_| connector.connect().unwrap()).collect();
        let delivered = stopping.metric(DELIVERED);
        stopping.terminate().unwrap();
        while stopping.operator_page_status("/readyz") == 200 {}
        let mut delays: Vec<Duration> = Vec::new();
        for connection in &mut connections {
            // The service no longer delivers events, but still responds on open connections.
            let response = connection.send_request(request.as_bytes()).unwrap().to_string();
            let answered = Instant::now();
            assert!(response.starts_with("HTTP/1.1 201"), "{response}");
            delays.push(fixture.next().received_at.saturating_duration_since(answered));
        }
        assert_eq!(stopping.metric(DELIVERED), delivered);
        delays.sort();
        eprintln!("from the response of one service to the arrival from the other: {delays:?}");
        assert!(delays[3] < Duration::from_millis(300), "the median of {delays:?}");
    });
}

/// Sends recognitions through both services. Each recognition has 25 events.
fn queue_events(fixture: &WebhookFixture, through: [&ServiceProcess; 2], events: usize) {
    let receivers: Vec<&str> = fixture.sample.users.iter().skip(1).map(String::as_str).collect();
    let body = fixture.sample.recognition_body("user", &fixture.sample.users[0], &receivers, 1).to_string();
    let authorization = basic_authorization(&fixture.sample.provider);
    let headers = [("Authorization", authorization.as_str()), ("Content-Type", "application/json")];
    std::thread::scope(|scope| {
        for running in through {
            let (headers, body) = (&headers, &body);
            scope.spawn(move || {
                for _ in 0..events / count_receivers(body) / 2 {
                    let response = running.send_request("POST", "/v1/recognitions", headers, Some(body));
                    assert_eq!(response.status, 201, "{}", response.body);
                }
            });
        }
    });
}

fn count_receivers(body: &str) -> usize {
    let body: serde_json::Value = serde_json::from_str(body).unwrap();
    body["receiver_ids"].as_str().unwrap().split(',').count()
}

fn count_distinct_events(arrivals: &[ReceivedRequest]) -> usize {
    arrivals.iter().map(ReceivedRequest::event_id).collect::<HashSet<_>>().len()
}
