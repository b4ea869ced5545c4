//! The connection to PostgreSQL breaks while settlements are written. Their outcome is unknown, so the service writes
//! them again, which changes nothing if the first write was committed.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use guerdon_persistence::testing::postgres_if_covered;
use guerdon_test_harness::ConnectionFault;

use super::{FAST_RETRIES, WebhookFixture, expire_leases, wait_for_state};
use crate::support::receiver::{ReceivedRequest, Reply};
use crate::support::service::TestService;

/// `TEST_EVENT_SEVER_SECONDS` lengthens the load. Longer runs also wait until the leases of lost claims end.
const LOAD_DURATION: Duration = Duration::from_secs(10);
/// Longer than a lease.
const DELIVERY_TIMEOUT: Duration = Duration::from_secs(45);
const USERS: usize = 6;
const CLIENTS: usize = 2;

/// The service's sessions.
const SESSIONS_SQL: &str = "pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()";
/// Selects sessions that write settlements or have just committed. They are terminated more often than others.
const SETTLING_CONDITION_SQL: &str =
    " AND (query LIKE '%attempts%' OR query LIKE '%deliveries%' OR query = 'COMMIT')";

fn campaign_duration() -> Option<Duration> {
    std::env::var("TEST_EVENT_SEVER_SECONDS")
        .ok()
        .map(|seconds| Duration::from_secs(seconds.parse().unwrap()))
}

/// Terminates those of the service's sessions that fulfil a condition. Returns their number.
fn terminate_sessions(service: &TestService, condition: &str) -> i64 {
    let terminated =
        format!("SELECT pg_terminate_backend(pid) AS is_terminated FROM {SESSIONS_SQL}{condition}");
    service.database.count_rows(&format!("({terminated}) AS sessions WHERE is_terminated"))
}

#[test]
fn sessions_terminated_during_settlements_lose_and_duplicate_nothing() {
    if let Some(database) = postgres_if_covered() {
        let service = TestService::start(database, &FAST_RETRIES);
        let (cuts, settling_sessions) = (AtomicUsize::new(0), AtomicI64::new(0));
        let fixture = send_under_load(&service, || {
            let round = cuts.fetch_add(1, Ordering::Relaxed);
            if round.is_multiple_of(4) {
                terminate_sessions(&service, "");
            } else {
                let terminated = terminate_sessions(&service, SETTLING_CONDITION_SQL);
                settling_sessions.fetch_add(terminated, Ordering::Relaxed);
            }
            let pause = Duration::from_millis(u64::try_from(20 + round * 37 % 120).unwrap());
            std::thread::sleep(pause); // tidy: the service works for a while between two cuts
        });
        let settling = settling_sessions.into_inner();
        eprintln!("{} rounds of cuts, which ended {settling} settling sessions", cuts.into_inner());
        assert!(settling > 5, "too few sessions were terminated: {settling}");
        assert_delivered_once(&service, &fixture);
    }
}

#[test]
fn unacknowledged_commits_lose_and_duplicate_nothing() {
    if let Some((proxy, service)) = TestService::start_behind_proxy(&FAST_RETRIES) {
        let fixture = send_under_load(&service, || {
            proxy.set_fault(Some(ConnectionFault::LostCommits));
            std::thread::sleep(Duration::from_millis(50)); // tidy: responses are dropped for a while
        });
        proxy.set_fault(None);
        let [recording, others] = proxy.count_lost_commits();
        eprintln!("acknowledgements lost: {recording} to commits that record attempts, {others} to others");
        assert!(recording > 5, "too few faults occurred: {recording}");
        assert_delivered_once(&service, &fixture);
    }
}

/// Sends recognitions, with a third of the delivery attempts failing, while `cause_fault` causes faults.
fn send_under_load(service: &TestService, cause_fault: impl Fn()) -> WebhookFixture {
    let fixture = WebhookFixture::create(service, USERS);
    let replies = [503, 200, 200].map(Reply::Status);
    fixture.receiver.queue_replies(replies.into_iter().cycle().take(200_000));
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for client in 0..CLIENTS {
            let (stop, sample) = (&stop, &fixture.sample);
            let users: Vec<&str> = sample.users.iter().map(String::as_str).collect();
            scope.spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    // The request may fail although it was committed, so the test compares the tables.
                    drop(sample.send_recognition(service, users[client], &users[CLIENTS..], 1));
                    std::thread::sleep(Duration::from_millis(100)); // tidy: gives the service time between requests
                }
            });
        }
        let started = Instant::now();
        while started.elapsed() < campaign_duration().unwrap_or(LOAD_DURATION) {
            cause_fault();
        }
        stop.store(true, Ordering::Relaxed);
    });
    fixture
}

fn assert_delivered_once(service: &TestService, fixture: &WebhookFixture) {
    let count = |what: &str| service.database.count_rows(what);
    eprintln!("{} events are left after the faults", count("deliveries WHERE state = 1"));
    let started = Instant::now();
    wait_until_none_pending(service);
    let elapsed = started.elapsed();
    let arrivals = fixture.receiver.unread_requests();
    let (events, attempts) = (count("deliveries"), count("attempts"));
    eprintln!(
        "{events} events, {attempts} attempts, {} requests; the last ended {elapsed:?} after",
        arrivals.len()
    );
    assert!(events > 100, "too few events occurred: {events}");
    assert_eq!(count("deliveries WHERE state = 2"), events);
    assert_eq!(count("deliveries WHERE lease_id IS NOT NULL"), 0);
    assert_eq!(count("attempts WHERE status = 200"), events, "each event is confirmed once");
    let miscounted = "(SELECT count(*) FROM attempts WHERE attempts.event_id = deliveries.event_id)";
    assert_eq!(count(&format!("deliveries WHERE attempts <> {miscounted}")), 0);
    assert_eq!(count("(SELECT DISTINCT event_id, number FROM attempts) AS numbers"), attempts);
    let requests_by_event = count_by_event(&arrivals);
    assert_eq!(i64::try_from(requests_by_event.len()).unwrap(), events);
    let rows: Vec<_> =
        requests_by_event.iter().map(|(event, times)| format!("('{event}'::uuid, {times})")).collect();
    let differing =
        format!("(VALUES {}) AS came (id, times) JOIN deliveries ON event_id = id", rows.join(", "));
    assert_eq!(count(&format!("{differing} WHERE times <> attempts")), 0, "each request has an attempt");
    // No attempt stays in flight forever: another event is delivered.
    fixture.send_recognition(service);
    wait_for_state(service, fixture.next().event_id(), "delivered");
    assert_eq!(service.run_command(&["verify"]).status, 0);
}

/// Waits until no delivery is pending. Claims whose commit was not acknowledged are held by an unknown lease, so
/// deliveries may pause for at most one lease.
fn wait_until_none_pending(service: &TestService) {
    let started = Instant::now();
    let (mut least_pending, mut since) = (i64::MAX, started);
    let mut has_ended_leases = campaign_duration().is_some();
    loop {
        let pending = service.database.count_rows("deliveries WHERE state = 1");
        if pending == 0 {
            return;
        }
        if pending < least_pending {
            (least_pending, since) = (pending, Instant::now());
        }
        if since.elapsed() > DELIVERY_TIMEOUT {
            let leased = service.database.count_rows("deliveries WHERE lease_id IS NOT NULL");
            panic!("{pending} events are stuck, {leased} of them leased");
        }
        if !has_ended_leases && started.elapsed() > Duration::from_secs(8) {
            expire_leases(&service.database);
            has_ended_leases = true;
        }
        std::thread::sleep(Duration::from_millis(50)); // tidy: polls another process
    }
}

/// The number of requests for each event.
fn count_by_event(arrivals: &[ReceivedRequest]) -> HashMap<&str, usize> {
    let mut times = HashMap::new();
    arrivals.iter().for_each(|arrival| *times.entry(arrival.event_id()).or_default() += 1);
    times
}
