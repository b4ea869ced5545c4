//! kill -9 under load: no acknowledged request is lost or executed twice. A retry with the same key settles an unknown
//! outcome.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use guerdon_test_harness::Signal;

use crate::support::service::{TestService, basic_authorization};
use crate::support::{SampleCompany, for_each_database, wait_until};

/// `TEST_CRASH_CYCLES` replaces this number.
const CYCLES: usize = 20;
const CLIENTS: usize = 6;
const POINTS: i64 = 3;

/// A request and its response.
struct SentRequest {
    key: String,
    body: String,
    /// The body of the response, if one arrived.
    response: Option<String>,
}

#[test]
fn sigkill_under_load_loses_and_duplicates_nothing() {
    let cycles = std::env::var("TEST_CRASH_CYCLES").ok().map_or(CYCLES, |cycles| cycles.parse().unwrap());
    for_each_database(|service| {
        let sample = SampleCompany::create(service, CLIENTS + 1);
        sample.fund_peer_wallets(service, 1_000_000);
        let mut sent_requests: Vec<SentRequest> = Vec::new();
        for cycle in 0..cycles {
            sent_requests.extend(run_until_killed(service, &sample, cycle));
            service.restart();
            if cycle % 5 == 0 {
                assert_eq!(service.run_command(&["verify"]).status, 0); // also detects damage from earlier cycles
            }
        }
        let acknowledged = sent_requests.iter().filter(|sent| sent.response.is_some()).count();
        assert!(acknowledged > cycles * CLIENTS, "too few requests succeeded: {acknowledged}");
        for sent in &sent_requests {
            let headers = [("Idempotency-Key", sent.key.as_str())];
            let again = service.post_with_headers(&sample.provider, "/v1/recognitions", &sent.body, &headers);
            assert_eq!(again.status, 201, "{}", again.body);
            if let Some(response) = &sent.response {
                assert_eq!(again.header("idempotency-replayed"), Some("true"));
                assert_eq!(again.body, *response);
            }
        }
        let moved = i64::try_from(sent_requests.len()).unwrap() * POINTS;
        assert_eq!(sample.read_balance(service, &sample.users[CLIENTS], "user_wallet"), Some(moved));
    });
}

/// Runs clients that send requests as fast as they receive responses, until the service is killed.
fn run_until_killed(service: &mut TestService, sample: &SampleCompany, cycle: usize) -> Vec<SentRequest> {
    let stop = AtomicBool::new(false);
    let sent_requests = Mutex::new(Vec::new());
    let authorization = basic_authorization(&sample.provider);
    let running = &service.running;
    std::thread::scope(|scope| {
        for client in 0..CLIENTS {
            let (stop, sent_requests, authorization) = (&stop, &sent_requests, &authorization);
            scope.spawn(move || {
                for number in 0.. {
                    let key = format!("{cycle}-{client}-{number}");
                    let to = sample.users[CLIENTS].as_str();
                    let body =
                        sample.recognition_body("user", &sample.users[client], &[to], POINTS).to_string();
                    let headers =
                        [("Authorization", authorization.as_str()), ("Idempotency-Key", key.as_str())];
                    let response =
                        running.try_send_request("POST", "/v1/recognitions", &headers, Some(&body));
                    let response =
                        response.ok().filter(|response| response.status == 201).map(|response| response.body);
                    let died = response.is_none();
                    sent_requests.lock().unwrap().push(SentRequest { key, body, response });
                    if died || stop.load(Ordering::Relaxed) {
                        return;
                    }
                }
            });
        }
        let is_loaded = || sent_requests.lock().unwrap().len() > CLIENTS;
        wait_until("requests should be acknowledged", || is_loaded().then_some(()));
        // tidy: the load runs for a different time each cycle before the kill
        std::thread::sleep(Duration::from_millis(7 * u64::try_from(cycle % CYCLES).unwrap()));
        service.running.send_signal(Signal::KILL).unwrap();
        stop.store(true, Ordering::Relaxed);
    });
    service.running.kill().unwrap();
    sent_requests.into_inner().unwrap()
}
