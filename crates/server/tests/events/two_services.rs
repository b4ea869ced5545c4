//! Two services on one PostgreSQL share the deliveries.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use guerdon_persistence::testing::postgres_if_covered;
use serde_json::json;

use super::{ALLOW_LOCAL_RECEIVERS, WebhookFixture, expire_leases};
use crate::support::receiver::{ReceivedRequest, Reply};
use crate::support::service::{ServiceProcess, TestService, basic_authorization};
use crate::support::wait_until;

const USERS: usize = 26;
const EVENTS: usize = 500;
const IN_FLIGHT: &str = "guerdon_webhook_attempts_in_flight";
const DELIVERED: &str = r#"guerdon_webhook_attempts_total{result="delivered"}"#;
/// A process's share of the 64 events per provider that may be in flight: two processes share the limit.
const EVENTS_IN_FLIGHT_MAX: usize = 32;

/// Runs a test with two services, on PostgreSQL only, because the embedded database permits only one.
fn for_each_pair(test: impl Fn(&mut TestService, ServiceProcess)) {
    if let Some(database) = postgres_if_covered() {
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
        let processes = [&service.running, &other];
        fixture.receiver.set_default_reply(Reply::AfterRelease(200));
        std::thread::scope(|scope| {
            scope.spawn(|| queue_events(&fixture, processes, EVENTS));
            processes.into_iter().for_each(wait_for_attempt);
            fixture.receiver.release_held_replies();
        });
        let arrivals = fixture.receiver.take_requests(EVENTS);
        assert_eq!(count_distinct_events(&arrivals), EVENTS);
        wait_until("all should be settled", || {
            (service.database.count_rows("deliveries WHERE state = 2") == 500).then_some(())
        });
        let delivered_by = wait_until("both services should have delivered events", || {
            let delivered_by = processes.map(|process| process.metric(DELIVERED).unwrap());
            delivered_by.iter().all(|count| *count > 0.0).then_some(delivered_by)
        });
        eprintln!("{EVENTS} events: {} by one, {} by the other", delivered_by[0], delivered_by[1]);
        assert_eq!(service.database.count_rows("attempts"), 500);
        assert_eq!(fixture.receiver.unread_requests().len(), 0);
    });
}

#[test]
fn the_events_of_a_dead_service_are_delivered_by_the_other() {
    for_each_pair(|service, mut other| {
        let fixture = WebhookFixture::create(service, USERS);
        let id = fixture.sample.provider.id.as_str();
        service.run_json_command(&["provider", "set", id, "--no-callback-url"]); // so that all events wait
        let receivers: Vec<&str> = fixture.sample.users[1..=20].iter().map(String::as_str).collect();
        (0..2).for_each(|_| drop(fixture.send_recognitions(service, &receivers)));
        // Five attempts are confirmed. The others stay in flight until after the kill.
        fixture.receiver.queue_replies((0..5).map(|_| Reply::Status(200)));
        fixture.receiver.set_default_reply(Reply::AfterRelease(200));
        service.run_json_command(&["provider", "set", id, "--callback-url", &fixture.url]);
        let replay = ["event", "replay", "--provider", id, "--state", "unaddressed"];
        assert_eq!(service.run_json_command(&replay), json!({"replayed": 40}));
        let mut arrivals = fixture.receiver.take_requests(5);
        wait_until("the confirmed events should be settled", || {
            (service.database.count_rows("deliveries WHERE state = 2") == 5).then_some(())
        });
        wait_for_attempt(&other); // so that the killed service leaves at least one leased event
        other.kill().unwrap();
        fixture.receiver.release_held_replies();
        expire_leases(&service.database);
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
        wait_until("the service should begin to stop", || {
            (stopping.operator_page_status("/readyz") != 200).then_some(())
        });
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

/// Waits until a process has an attempt in flight.
fn wait_for_attempt(process: &ServiceProcess) {
    wait_until("an attempt should be in flight", || (process.metric(IN_FLIGHT)? >= 1.0).then_some(()));
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
