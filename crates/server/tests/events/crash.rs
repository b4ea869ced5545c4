//! kill -9 during deliveries: no event is lost, few are sent twice, and every delivery of an event has the same body.

use std::collections::{HashMap, HashSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::{LOCAL, Post};
use crate::support::receiver::Arrival;
use crate::support::service::{Service, basic};
use crate::support::{Sample, on_each_with};

/// `TEST_EVENT_CRASH_CYCLES` raises this number. Longer runs also wait until the leases of killed processes end.
const CYCLES: usize = 5;
const CLIENTS: usize = 2;
/// Events of one provider that a process can have sent but not settled when it dies.
const IN_FLIGHT: usize = 64;

/// A request as the client knows it: its provider, key and body, and whether it received a response.
struct Sent {
    post: usize,
    key: String,
    body: String,
    answered: bool,
}

#[test]
fn kill_nine_loses_no_event_and_duplicates_few() {
    let campaign = std::env::var("TEST_EVENT_CRASH_CYCLES").ok().map(|cycles| cycles.parse().unwrap());
    let cycles = campaign.unwrap_or(CYCLES);
    on_each_with(&LOCAL, |service| {
        let posts = [Post::make(service, CLIENTS + 1), Post::make(service, CLIENTS + 1)];
        for post in &posts {
            post.sample.fund(service, 1_000_000);
        }
        let mut journal = Vec::new();
        for cycle in 0..cycles {
            journal.extend(one_cycle(service, &posts, cycle));
            if cycle + 1 == cycles && campaign.is_none() {
                end_leases(service);
            }
            service.restart();
            assert_eq!(service.guerdon(&["verify"]).status, 0);
        }
        let patience = Duration::from_secs(if campaign.is_some() { 120 } else { 15 });
        let acknowledged = journal.iter().filter(|sent| sent.answered).count();
        assert!(acknowledged > cycles * CLIENTS, "the load must have been real: {acknowledged}");
        for (number, post) in posts.iter().enumerate() {
            let committed = committed(service, post, journal.iter().filter(|sent| sent.post == number));
            let arrivals = all_of(post, &committed, patience);
            let twice = arrivals.len() - committed.len();
            eprintln!("{}: {cycles} kills, {} events, {twice} twice", service.database.url, committed.len());
            assert!(twice <= IN_FLIGHT * cycles, "{twice}");
        }
    });
}

/// Simulates that a minute has passed. The embedded database does not need this.
fn end_leases(service: &Service) {
    if !service.database.is_embedded() {
        let over = "UPDATE deliveries SET next_attempt_at = now() WHERE lease_id IS NOT NULL";
        service.database.tamper("", over);
    }
}

/// The recognitions that were committed, found by retrying each request.
fn committed<'a>(service: &Service, post: &Post, journal: impl Iterator<Item = &'a Sent>) -> HashSet<String> {
    let mut ids = HashSet::new();
    for sent in journal {
        let headers = [("Idempotency-Key", sent.key.as_str())];
        let again = service.post_text(&post.sample.provider, "/v1/recognitions", &sent.body, &headers);
        assert_eq!(again.status, 201, "{}", again.body);
        assert!(!sent.answered || again.header("idempotency-replayed") == Some("true"));
        for recognition in again.json()["recognitions"].as_array().unwrap() {
            ids.insert(recognition["id"].as_str().unwrap().to_owned());
        }
    }
    ids
}

/// All requests received until every committed recognition has its event: each genuine, one event per recognition,
/// the same bytes every time.
fn all_of(post: &Post, committed: &HashSet<String>, patience: Duration) -> Vec<Arrival> {
    let mut arrivals: Vec<Arrival> = Vec::new();
    let mut events: HashMap<String, (String, Vec<u8>)> = HashMap::new();
    let began = Instant::now();
    while events.len() < committed.len() || !events.keys().all(|id| committed.contains(id)) {
        for arrival in post.receiver.so_far() {
            assert_eq!(arrival.verified(&post.url, &post.secret), Ok(()));
            let id = arrival.json()["data"]["id"].as_str().unwrap().to_owned();
            assert!(committed.contains(&id), "{id} was not committed");
            let (event, body) =
                events.entry(id).or_insert_with(|| (arrival.event_id().to_owned(), arrival.body.clone()));
            assert_eq!((event.as_str(), &*body), (arrival.event_id(), &arrival.body));
            arrivals.push(arrival);
        }
        assert!(began.elapsed() < patience, "{} of {} events arrived", events.len(), committed.len());
        std::thread::sleep(Duration::from_millis(5)); // tidy: polls another process
    }
    arrivals
}

/// Clients send as fast as they receive responses, until the service is killed.
fn one_cycle(service: &mut Service, posts: &[Post], cycle: usize) -> Vec<Sent> {
    let stop = AtomicBool::new(false);
    let journal = Mutex::new(Vec::new());
    let pid = service.running.pid().to_string();
    let running = &service.running;
    let samples: Vec<&Sample> = posts.iter().map(|post| &post.sample).collect();
    std::thread::scope(|scope| {
        for client in 0..CLIENTS * posts.len() {
            let (stop, journal, samples) = (&stop, &journal, &samples);
            scope.spawn(move || {
                let (number, user) = (client % samples.len(), client / samples.len());
                let sample = samples[number];
                let authorization = basic(&sample.provider);
                for request in 0.. {
                    let key = format!("{cycle}-{client}-{request}");
                    let to = sample.users[CLIENTS].as_str();
                    let body = sample.recognition("user", &sample.users[user], &[to], 1).to_string();
                    let headers = [("Authorization", authorization.as_str()), ("Idempotency-Key", &key)];
                    let answer = running.try_request("POST", "/v1/recognitions", &headers, Some(&body));
                    let answered = answer.is_ok_and(|answer| answer.status == 201);
                    journal.lock().unwrap().push(Sent { post: number, key, body, answered });
                    if !answered || stop.load(Ordering::Relaxed) {
                        return;
                    }
                }
            });
        }
        let load = Duration::from_millis(100 + 37 * u64::try_from(cycle % 15).unwrap());
        std::thread::sleep(load); // tidy: the load runs for a different time each cycle before the kill
        assert!(std::process::Command::new("kill").args(["-9", &pid]).status().unwrap().success());
        stop.store(true, Ordering::Relaxed);
    });
    service.running.kill();
    journal.into_inner().unwrap()
}
