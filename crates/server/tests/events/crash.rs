//! kill -9 during deliveries: no event is lost, few are sent twice, and every delivery of an event has the same body.

use std::collections::{HashMap, HashSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use guerdon_test_harness::Signal;

use super::{ALLOW_LOCAL_RECEIVERS, WebhookFixture, expire_leases};
use crate::support::receiver::{DeliveredEvent as _, ReceivedRequest, Reply};
use crate::support::service::{TestService, basic_authorization};
use crate::support::{SampleCompany, for_each_database_with, wait_until};

/// `TEST_EVENT_CRASH_CYCLES` raises this number. Longer runs also wait until the leases of killed processes end.
const CYCLES: usize = 5;
const CLIENTS: usize = 2;
/// How many events of one provider a process can have sent but not settled when it dies.
const EVENTS_IN_FLIGHT_MAX: usize = 64;

/// A request from the client's point of view: its provider, key and body, and whether a response arrived.
struct SentRecognition {
    fixture_index: usize,
    key: String,
    body: String,
    was_confirmed: bool,
}

#[test]
fn sigkill_loses_no_event_and_duplicates_few() {
    let campaign = std::env::var("TEST_EVENT_CRASH_CYCLES").ok().map(|cycles| cycles.parse().unwrap());
    let cycles = campaign.unwrap_or(CYCLES);
    for_each_database_with(&ALLOW_LOCAL_RECEIVERS, |service| {
        let fixtures =
            [WebhookFixture::create(service, CLIENTS + 1), WebhookFixture::create(service, CLIENTS + 1)];
        for fixture in &fixtures {
            fixture.sample.fund_peer_wallets(service, 1_000_000);
        }
        let mut sent_requests = Vec::new();
        for cycle in 0..cycles {
            sent_requests.extend(send_until_killed(service, &fixtures, cycle));
            if cycle + 1 == cycles && campaign.is_none() {
                end_leases(service);
            }
            service.restart();
            assert_eq!(service.run_command(&["verify"]).status, 0);
        }
        let timeout = Duration::from_secs(if campaign.is_some() { 120 } else { 15 });
        let acknowledged = sent_requests.iter().filter(|sent| sent.was_confirmed).count();
        assert!(acknowledged > cycles * CLIENTS, "too few requests succeeded: {acknowledged}");
        for (number, fixture) in fixtures.iter().enumerate() {
            let committed = committed_recognitions(
                service,
                fixture,
                sent_requests.iter().filter(|sent| sent.fixture_index == number),
            );
            let arrivals = wait_for_all_events(fixture, &committed, timeout);
            let twice = arrivals.len() - committed.len();
            eprintln!("{}: {cycles} kills, {} events, {twice} twice", service.database.url, committed.len());
            assert!(twice <= EVENTS_IN_FLIGHT_MAX * cycles, "{twice}");
        }
    });
}

#[test]
fn a_kill_repeats_only_the_attempts_in_progress() {
    const EVENTS: usize = 200;
    const ATTEMPTS_IN_PROGRESS: usize = 8;
    for_each_database_with(&ALLOW_LOCAL_RECEIVERS, |service| {
        let fixture = WebhookFixture::create(service, 21);
        let receivers: Vec<&str> = fixture.sample.users[1..].iter().map(String::as_str).collect();
        fixture.receiver.set_default_reply(Reply::AfterRelease(200));
        for _ in 0..EVENTS / receivers.len() {
            fixture.send_recognitions(service, &receivers);
        }
        let mut arrivals = fixture.receiver.take_requests(ATTEMPTS_IN_PROGRESS);
        service.running.kill().unwrap();
        fixture.receiver.release_held_replies();
        end_leases(service);
        service.restart();
        wait_until("all events should be delivered", || {
            let delivered = service.database.count_rows("deliveries WHERE state = 2");
            (usize::try_from(delivered) == Ok(EVENTS)).then_some(())
        });
        arrivals.extend(fixture.receiver.unread_requests());
        let events: HashSet<&str> = arrivals.iter().map(ReceivedRequest::event_id).collect();
        assert_eq!((events.len(), arrivals.len()), (EVENTS, EVENTS + ATTEMPTS_IN_PROGRESS));
    });
}

/// Lets the leases of a killed process end. Waits for its sessions first, because one of them may still commit a claim.
fn end_leases(service: &TestService) {
    if !service.database.is_embedded() {
        let other_sessions =
            "pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()";
        let is_alone = || service.database.count_rows(other_sessions) == 0;
        wait_until("the sessions of the killed process should end", || is_alone().then_some(()));
        expire_leases(&service.database);
    }
}

/// The recognitions that were committed, found by retrying each request.
fn committed_recognitions<'a>(
    service: &TestService,
    fixture: &WebhookFixture,
    sent_requests: impl Iterator<Item = &'a SentRecognition>,
) -> HashSet<String> {
    let mut ids = HashSet::new();
    for sent in sent_requests {
        let headers = [("Idempotency-Key", sent.key.as_str())];
        let again =
            service.post_with_headers(&fixture.sample.provider, "/v1/recognitions", &sent.body, &headers);
        assert_eq!(again.status, 201, "{}", again.body);
        assert!(!sent.was_confirmed || again.header("idempotency-replayed") == Some("true"));
        for recognition in again.json()["recognitions"].as_array().unwrap() {
            ids.insert(recognition["id"].as_str().unwrap().to_owned());
        }
    }
    ids
}

/// Waits until the event of every committed recognition has been received. Returns all received requests. Asserts that
/// each request has a valid signature, that each recognition has exactly one event, and that every delivery of an event
/// has the same bytes.
fn wait_for_all_events(
    fixture: &WebhookFixture,
    committed: &HashSet<String>,
    timeout: Duration,
) -> Vec<ReceivedRequest> {
    let mut arrivals: Vec<ReceivedRequest> = Vec::new();
    let mut events: HashMap<String, (String, Vec<u8>)> = HashMap::new();
    let started = Instant::now();
    while events.len() < committed.len() || !events.keys().all(|id| committed.contains(id)) {
        for arrival in fixture.receiver.unread_requests() {
            assert_eq!(arrival.verify_signature(&fixture.url, &fixture.secret), Ok(()));
            let id = arrival.json()["data"]["id"].as_str().unwrap().to_owned();
            assert!(committed.contains(&id), "{id} was not committed");
            let (event, body) =
                events.entry(id).or_insert_with(|| (arrival.event_id().to_owned(), arrival.body.clone()));
            assert_eq!((event.as_str(), &*body), (arrival.event_id(), &arrival.body));
            arrivals.push(arrival);
        }
        assert!(started.elapsed() < timeout, "{} of {} events arrived", events.len(), committed.len());
        std::thread::sleep(Duration::from_millis(5)); // tidy: polls another process
    }
    arrivals
}

/// Runs clients that send requests as fast as they receive responses, until the service is killed.
fn send_until_killed(
    service: &mut TestService,
    fixtures: &[WebhookFixture],
    cycle: usize,
) -> Vec<SentRecognition> {
    let stop = AtomicBool::new(false);
    let sent_requests = Mutex::new(Vec::new());
    let running = &service.running;
    let samples: Vec<&SampleCompany> = fixtures.iter().map(|fixture| &fixture.sample).collect();
    std::thread::scope(|scope| {
        for client in 0..CLIENTS * fixtures.len() {
            let (stop, sent_requests, samples) = (&stop, &sent_requests, &samples);
            scope.spawn(move || {
                let (number, user) = (client % samples.len(), client / samples.len());
                let sample = samples[number];
                let authorization = basic_authorization(&sample.provider);
                for request in 0.. {
                    let key = format!("{cycle}-{client}-{request}");
                    let to = sample.users[CLIENTS].as_str();
                    let body = sample.recognition_body("user", &sample.users[user], &[to], 1).to_string();
                    let headers = [("Authorization", authorization.as_str()), ("Idempotency-Key", &key)];
                    let response =
                        running.try_send_request("POST", "/v1/recognitions", &headers, Some(&body));
                    let was_confirmed = response.is_ok_and(|response| response.status == 201);
                    sent_requests.lock().unwrap().push(SentRecognition {
                        fixture_index: number,
                        key,
                        body,
                        was_confirmed,
                    });
                    if !was_confirmed || stop.load(Ordering::Relaxed) {
                        return;
                    }
                }
            });
        }
        let is_loaded = || sent_requests.lock().unwrap().len() > CLIENTS;
        wait_until("requests should be acknowledged", || is_loaded().then_some(()));
        let load = Duration::from_millis(37 * u64::try_from(cycle % 15).unwrap());
        std::thread::sleep(load); // tidy: the load runs for a different time each cycle before the kill
        service.running.send_signal(Signal::KILL).unwrap();
        stop.store(true, Ordering::Relaxed);
    });
    service.running.kill().unwrap();
    sent_requests.into_inner().unwrap()
}
