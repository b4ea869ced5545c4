//! The connection to PostgreSQL breaks during settlements. Their outcome is unknown, so they are written again, which
//! changes nothing if the first write was committed.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use guerdon_persistence::testing::{TestDatabase, each};

use super::{HASTY, Post, in_state};
use crate::support::proxy::Proxy;
use crate::support::receiver::{Arrival, Reply};
use crate::support::service::Service;

/// `TEST_EVENT_SEVER_SECONDS` lengthens the load. Longer runs also wait until the leases of lost claims end.
const LOAD: Duration = Duration::from_secs(10);
/// Longer than a lease.
const STANDSTILL: Duration = Duration::from_secs(45);
const USERS: usize = 6;
const CLIENTS: usize = 2;

/// The service's sessions. Sessions that settle or have just committed are terminated more often than all sessions.
const SESSIONS: &str = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
     WHERE datname = current_database() AND pid <> pg_backend_pid()";
const SETTLING: &str = " AND (query LIKE '%attempts%' OR query LIKE '%deliveries%' OR query = 'COMMIT')";

fn campaign() -> Option<Duration> {
    std::env::var("TEST_EVENT_SEVER_SECONDS")
        .ok()
        .map(|seconds| Duration::from_secs(seconds.parse().unwrap()))
}

fn on_postgres() -> impl Iterator<Item = TestDatabase> {
    each().into_iter().filter(|database| !database.is_embedded())
}

#[test]
fn sessions_terminated_during_settlements_lose_and_duplicate_nothing() {
    for database in on_postgres() {
        let service = Service::start(database, &HASTY);
        let cuts = AtomicUsize::new(0);
        let post = under_load(&service, || {
            let round = cuts.fetch_add(1, Ordering::Relaxed);
            let which = if round.is_multiple_of(4) { "" } else { SETTLING };
            service.database.tamper("", &format!("{SESSIONS}{which}"));
            let pause = Duration::from_millis(u64::try_from(20 + round * 37 % 120).unwrap());
            std::thread::sleep(pause); // tidy: the service works for a while between two cuts
        });
        eprintln!("{} rounds of cuts", cuts.into_inner());
        nothing_is_stuck_or_doubled(&service, &post);
    }
}

#[test]
fn unacknowledged_commits_lose_and_duplicate_nothing() {
    for database in on_postgres() {
        let Some(proxy) = Proxy::before(&database.url) else { continue };
        let through = proxy.url();
        let settings = [&HASTY[..], &[("GUERDON_DATABASE__URL", through.as_str())]].concat();
        let service = Service::start(database, &settings);
        let post = under_load(&service, || {
            proxy.lose(true);
            std::thread::sleep(Duration::from_millis(50)); // tidy: responses are dropped for a while
        });
        proxy.lose(false);
        let [recording, others] = proxy.lost();
        eprintln!("answers lost: {recording} to commits that record attempts, {others} to others");
        assert!(recording > 5, "the faults must have been real: {recording}");
        nothing_is_stuck_or_doubled(&service, &post);
    }
}

/// Sends recognitions, with a third of the delivery attempts failing, while `go_wrong` causes faults.
fn under_load(service: &Service, go_wrong: impl Fn()) -> Post {
    let post = Post::make(service, USERS);
    let replies = [503, 200, 200].map(Reply::Status);
    post.receiver.script(replies.into_iter().cycle().take(200_000));
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for client in 0..CLIENTS {
            let (stop, sample) = (&stop, &post.sample);
            let users: Vec<&str> = sample.users.iter().map(String::as_str).collect();
            scope.spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    // The request may fail although it was committed. The test compares the tables.
                    drop(sample.send(service, users[client], &users[CLIENTS..], 1));
                    std::thread::sleep(Duration::from_millis(100)); // tidy: gives the service time between requests
                }
            });
        }
        let began = Instant::now();
        while began.elapsed() < campaign().unwrap_or(LOAD) {
            go_wrong();
        }
        stop.store(true, Ordering::Relaxed);
    });
    post
}

fn nothing_is_stuck_or_doubled(service: &Service, post: &Post) {
    let count = |what: &str| service.database.count(what);
    eprintln!("{} events are left when all is well again", count("deliveries WHERE state = 1"));
    let began = Instant::now();
    all_come_to_an_end(service);
    let took = began.elapsed();
    let arrivals = post.receiver.so_far();
    let (events, attempts) = (count("deliveries"), count("attempts"));
    eprintln!(
        "{events} events, {attempts} attempts, {} requests; the last ended {took:?} after",
        arrivals.len()
    );
    assert!(events > 100, "the load must have been real: {events}");
    assert_eq!(count("deliveries WHERE state = 2"), events);
    assert_eq!(count("deliveries WHERE lease_id IS NOT NULL"), 0);
    assert_eq!(count("attempts WHERE status = 200"), events, "each event is confirmed once");
    let miscounted = "(SELECT count(*) FROM attempts WHERE attempts.event_id = deliveries.event_id)";
    assert_eq!(count(&format!("deliveries WHERE attempts <> {miscounted}")), 0);
    assert_eq!(count("(SELECT DISTINCT event_id, number FROM attempts) AS numbers"), attempts);
    let came = came(&arrivals);
    assert_eq!(i64::try_from(came.len()).unwrap(), events);
    let rows: Vec<_> = came.iter().map(|(event, times)| format!("('{event}'::uuid, {times})")).collect();
    let differing =
        format!("(VALUES {}) AS came (id, times) JOIN deliveries ON event_id = id", rows.join(", "));
    assert_eq!(count(&format!("{differing} WHERE times <> attempts")), 0, "each request has an attempt");
    // No delivery slot is leaked: another event is delivered.
    post.recognise(service);
    in_state(service, post.next().event_id(), "delivered");
    assert_eq!(service.guerdon(&["verify"]).status, 0);
}

/// Waits until no delivery is pending. Claims whose commit was not acknowledged are held by an unknown lease, so
/// deliveries may pause for at most one lease.
fn all_come_to_an_end(service: &Service) {
    let began = Instant::now();
    let (mut least, mut since) = (i64::MAX, began);
    let mut has_ended_leases = campaign().is_some();
    loop {
        let pending = service.database.count("deliveries WHERE state = 1");
        if pending == 0 {
            return;
        }
        if pending < least {
            (least, since) = (pending, Instant::now());
        }
        if since.elapsed() > STANDSTILL {
            let leased = service.database.count("deliveries WHERE lease_id IS NOT NULL");
            panic!("{pending} events are stuck, {leased} of them leased");
        }
        if !has_ended_leases && began.elapsed() > Duration::from_secs(8) {
            let over = "UPDATE deliveries SET next_attempt_at = now() WHERE lease_id IS NOT NULL";
            service.database.tamper("", over); // simulates that half a minute has passed
            has_ended_leases = true;
        }
        std::thread::sleep(Duration::from_millis(50)); // tidy: polls another process
    }
}

/// The number of requests for each event.
fn came(arrivals: &[Arrival]) -> HashMap<&str, usize> {
    let mut times = HashMap::new();
    arrivals.iter().for_each(|arrival| *times.entry(arrival.event_id()).or_default() += 1);
    times
}
