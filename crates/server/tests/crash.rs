//! kill -9 under load: no acknowledged request is lost or executed twice. A retry with the same key settles an unknown
//! outcome.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::support::service::{Service, basic};
use crate::support::{Sample, on_each};

const CYCLES: usize = 20;
const CLIENTS: usize = 6;
const POINTS: i64 = 3;

/// A request and its response.
struct Sent {
    key: String,
    body: String,
    /// The body of the response, if one arrived.
    answer: Option<String>,
}

#[test]
fn kill_nine_under_load_loses_and_duplicates_nothing() {
    on_each(|service| {
        let sample = Sample::make(service, CLIENTS + 1);
        sample.fund(service, 1_000_000);
        let mut journal: Vec<Sent> = Vec::new();
        for cycle in 0..CYCLES {
            journal.extend(one_cycle(service, &sample, cycle));
            service.restart();
            if cycle % 5 == 0 {
                assert_eq!(service.guerdon(&["verify"]).status, 0); // also detects damage from earlier cycles
            }
        }
        let acknowledged = journal.iter().filter(|sent| sent.answer.is_some()).count();
        assert!(acknowledged > CYCLES * CLIENTS, "the load must have been real: {acknowledged}");
        for sent in &journal {
            let headers = [("Idempotency-Key", sent.key.as_str())];
            let again = service.post_text(&sample.provider, "/v1/recognitions", &sent.body, &headers);
            assert_eq!(again.status, 201, "{}", again.body);
            if let Some(answer) = &sent.answer {
                assert_eq!(again.header("idempotency-replayed"), Some("true"));
                assert_eq!(again.body, *answer);
            }
        }
        let moved = i64::try_from(journal.len()).unwrap() * POINTS;
        assert_eq!(sample.shows(service, &sample.users[CLIENTS], "user_wallet"), Some(moved));
    });
}

/// Clients send as fast as they receive responses, until the service is killed.
fn one_cycle(service: &mut Service, sample: &Sample, cycle: usize) -> Vec<Sent> {
    let stop = AtomicBool::new(false);
    let journal = Mutex::new(Vec::new());
    let authorization = basic(&sample.provider);
    let pid = service.running.pid().to_string();
    let running = &service.running;
    std::thread::scope(|scope| {
        for client in 0..CLIENTS {
            let (stop, journal, authorization) = (&stop, &journal, &authorization);
            scope.spawn(move || {
                for number in 0.. {
                    let key = format!("{cycle}-{client}-{number}");
                    let to = sample.users[CLIENTS].as_str();
                    let body = sample.recognition("user", &sample.users[client], &[to], POINTS).to_string();
                    let headers =
                        [("Authorization", authorization.as_str()), ("Idempotency-Key", key.as_str())];
                    let answer = running.try_request("POST", "/v1/recognitions", &headers, Some(&body));
                    let answer = answer.ok().filter(|answer| answer.status == 201).map(|answer| answer.body);
                    let died = answer.is_none();
                    journal.lock().unwrap().push(Sent { key, body, answer });
                    if died || stop.load(Ordering::Relaxed) {
                        return;
                    }
                }
            });
        }
        // tidy: the load runs for a different time each cycle before the kill
        std::thread::sleep(Duration::from_millis(60 + 23 * u64::try_from(cycle).unwrap()));
        assert!(std::process::Command::new("kill").args(["-9", &pid]).status().unwrap().success());
        stop.store(true, Ordering::Relaxed);
    });
    service.running.kill();
    journal.into_inner().unwrap()
}
