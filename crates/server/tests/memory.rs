//! Sixteen of the largest requests and responses at the same time: memory is bounded, requests beyond the limit get an
//! early 503, and other providers are not delayed.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use guerdon_test_harness::HttpsConnection;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::Value;

use crate::support::service::{ApiResponse, TestService, basic_authorization};
use crate::support::{SampleCompany, for_each_database, wait_until};

const CONCURRENT_REQUESTS: usize = 16;
const RECEIVERS: usize = 10_000;
/// The length of a message for which the messages for all receivers together have just under 8 MiB.
const MESSAGE_BYTES: usize = (8 << 20) / RECEIVERS;
const OCCASIONS: usize = 1_000;
/// Recognitions per page.
const PAGE_SIZE: usize = 100;
const RESIDENT_MAX_KIB: u64 = 256 << 10;
/// The number of addresses that connect without credentials, and of connections per address. Together they send more
/// bytes than the limit for data of unauthenticated clients.
const CLIENT_ADDRESSES: u8 = 5;
const CONNECTIONS_PER_ADDRESS: usize = 200;
const HELD_BYTES_METRIC: &str = "guerdon_http_memory_bytes{kind=\"received\"}";
/// The results of one kind of load.
struct LoadResult {
    responses: Vec<(u16, Option<String>, String)>,
    others: Vec<Duration>,
}

/// Prints the resident memory of the service. Returns its peak in KiB.
fn print_memory(service: &TestService, idle: u64) -> u64 {
    let peak = process_memory_kib(service, "VmHWM");
    println!(
        "resident: idle {idle} KiB, at most {peak} KiB, now {} KiB",
        process_memory_kib(service, "VmRSS")
    );
    if let Ok(seconds) = std::env::var("TEST_SETTLE_SECONDS") {
        std::thread::sleep(Duration::from_secs(seconds.parse().unwrap())); // tidy: the duration of the measurement
        println!("resident after {seconds} s: {} KiB", process_memory_kib(service, "VmRSS"));
    }
    peak
}

#[test]
fn the_largest_requests_and_responses_stay_within_256_mebibytes() {
    for_each_database(|service| {
        let sample = SampleCompany::create(service, 0);
        let other = SampleCompany::create(service, 2);
        other.fund_peer_wallets(service, 100_000);
        let users = insert_users_and_occasions(service, &sample);
        let idle = process_memory_kib(service, "VmRSS");
        sample.deposit_points(service, 10_000_000);
        let bodies: Vec<String> =
            (0..CONCURRENT_REQUESTS).map(|n| largest_body(&sample, &users, n)).collect();
        let post = |n: usize| {
            let key = format!("large-{n}");
            service.post_with_headers(
                &sample.provider,
                "/v1/recognitions",
                &bodies[n],
                &[("Idempotency-Key", &key)],
            )
        };

        let sent = measure_load(service, &other, post, &[201, 503]);
        print_load(service, "POST", &sent);
        let created = sent.responses.iter().filter(|response| response.0 == 201).count();
        assert!(created > 0 || !is_measuring(), "no request succeeded");
        assert_eq!(count_recognitions(service, &sample), created * RECEIVERS);
        let (refused, first) =
            (sent.responses.iter().position(|response| response.0 == 503), &sent.responses);
        let late = refused.and_then(|n| retry_until_done(|| post(n)));
        if let Some(late) = &late {
            assert_eq!(late.header("idempotency-replayed"), None, "the refused request was committed");
        }
        if let Some(n) = first.iter().position(|response| response.0 == 201)
            && let Some(repeat) = retry_until_done(|| post(n))
        {
            assert_eq!(repeat.header("idempotency-replayed"), Some("true"));
            assert!(repeat.body == first[n].2);
        }
        let created = created + usize::from(late.is_some());

        send_largest_messages(service, &sample, &users[0]);
        let occasions = format!("/v1/companies/{}/occasions?per_page={OCCASIONS}", sample.company);
        let received = format!("/v1/users/{}/recognitions_received", users[0]);
        for path in [&occasions, &received] {
            let got = measure_load(service, &other, |_| service.get(&sample.provider, path), &[200, 503]);
            print_load(service, path, &got);
            assert!(got.responses.iter().any(|response| response.0 == 200) || !is_measuring(), "{path}");
        }
        if let Some(whole) = retry_until_done(|| service.get(&sample.provider, &occasions)) {
            let whole = whole.json();
            assert_eq!(whole["result_count"], OCCASIONS);
            assert_eq!(whole["results"].as_array().unwrap().len(), OCCASIONS);
        }
        assert_eq!(
            count_recognitions(service, &sample),
            created * RECEIVERS + PAGE_SIZE,
            "a request was committed late"
        );
        let peak = print_memory(service, idle);
        assert!(peak <= RESIDENT_MAX_KIB, "{peak} KiB");
    });
}

#[test]
fn unauthenticated_connections_use_little_memory_and_block_no_others() {
    raise_descriptor_limit();
    for_each_database(|service| {
        let provider = service.create_provider("Acme", true);
        let authorization = basic_authorization(&provider);
        let before = process_memory_kib(service, "VmRSS");
        let connector = service.running.https();
        let mut connections: Vec<HttpsConnection> = std::thread::scope(|scope| {
            let all: Vec<_> = (1..=CLIENT_ADDRESSES)
                .map(|address| {
                    let connector = &connector;
                    scope.spawn(move || {
                        let connect = |_| connector.connect_from([127, 0, 5, address].into()).unwrap();
                        let mut connections: Vec<HttpsConnection> =
                            (0..CONNECTIONS_PER_ADDRESS).map(connect).collect();
                        for connection in &mut connections {
                            let response =
                                connection.send_request(b"GET /v1/x HTTP/1.1\r\nHost: localhost\r\n\r\n");
                            assert_eq!(response.unwrap().status, 401);
                        }
                        connections
                    })
                })
                .collect();
            all.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
        });
        let open = u64::from(CLIENT_ADDRESSES) * u64::try_from(CONNECTIONS_PER_ADDRESS).unwrap();
        assert_eq!(service.running.metric("guerdon_http_connections"), Some(1_000.0));
        let idle = (process_memory_kib(service, "VmRSS") - before) * 1_024 / open;
        println!("{idle} bytes for an idle connection");
        assert!(idle < 20 << 10, "{idle} bytes for an idle connection");

        let head = format!("GET /v1/x HTTP/1.1\r\nHost: localhost\r\nX: {}", "x".repeat(31 << 10));
        for connection in &mut connections {
            connection.send_bytes(head.as_bytes()).unwrap();
        }
        let request = format!(
            "GET /v1/companies HTTP/1.1\r\nHost: localhost\r\nAuthorization: {authorization}\r\n\r\n"
        );
        let response = connector.connect().unwrap().send_request(request.as_bytes()).unwrap().to_string();
        assert!(response.starts_with("HTTP/1.1 200"), "{response}");
        let held = service.running.metric(HELD_BYTES_METRIC).unwrap();
        assert!(held > 0.0 && held <= f64::from(25 << 20), "{held} bytes held");
        println!("resident: {before} KiB before, at most {} KiB", process_memory_kib(service, "VmHWM"));
        let statuses: Vec<u16> = connections
            .into_iter()
            .map(|connection| connection.send_and_read_to_end(b"").unwrap()[0].status)
            .collect();
        let [cut, busy] =
            [400, 503].map(|status| statuses.iter().filter(|actual| **actual == status).count());
        assert_eq!(cut + busy, statuses.len(), "{statuses:?}");
        assert!(cut > 0 && busy > 0, "{cut} took too long, {busy} exceeded the memory limit");
        wait_until("no bytes should be held", || {
            (service.running.metric(HELD_BYTES_METRIC) == Some(0.0)).then_some(())
        });
    });
}

#[test]
fn a_page_is_released_after_the_client_has_received_it() {
    for_each_database(|service| {
        let build_head =
            |method: &str, path: &str| format!("{method} {path} HTTP/1.1\r\nHost: localhost\r\n\r\n");
        let mut connection = service.running.https().connect().unwrap();
        let page =
            connection.send_request(build_head("GET", "/openapi.json").as_bytes()).unwrap().to_string();
        assert!(page.starts_with("HTTP/1.1 200"), "{page}");
        wait_until("the page should be released", || {
            (service.running.metric(HELD_BYTES_METRIC) == Some(0.0)).then_some(())
        });
        let next = connection.send_request(build_head("GET", "/").as_bytes()).unwrap().to_string();
        assert!(next.starts_with("HTTP/1.1 303"), "the connection should have stayed open: {next}");
        assert_eq!(service.running.metric(HELD_BYTES_METRIC), Some(0.0));
    });
}

/// Raises the limit on file descriptors to the system's maximum, as the service does.
fn raise_descriptor_limit() {
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit }).unwrap();
}

/// Sends sixteen requests concurrently while another provider reads and writes.
fn measure_load(
    service: &TestService,
    other: &SampleCompany,
    one: impl Fn(usize) -> ApiResponse + Sync,
    allowed: &[u16],
) -> LoadResult {
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let others = scope.spawn(|| {
            let mut others = Vec::new();
            while !is_over.load(Ordering::Relaxed) {
                let since = Instant::now();
                let user = format!("/v1/users/{}", other.users[0]);
                let read = service.get(&other.provider, &user).status;
                others.push(since.elapsed());
                let since = Instant::now();
                let sent = other.send_recognition(service, &other.users[0], &[&other.users[1]], 1).status;
                others.push(since.elapsed());
                let is_served = (read, sent) == (200, 201);
                assert!(is_served || (!is_measuring() && [read, sent].contains(&503)), "{read} {sent}");
            }
            others
        });
        let one = &one;
        let all: Vec<_> = (0..CONCURRENT_REQUESTS).map(|n| scope.spawn(move || one(n))).collect();
        let responses: Vec<ApiResponse> = all.into_iter().map(|thread| thread.join().unwrap()).collect();
        is_over.store(true, Ordering::Relaxed);
        let mut kept = Vec::new();
        for response in responses {
            assert!(
                allowed.contains(&response.status),
                "{} {}",
                response.status,
                response.body.get(..200).unwrap_or(&response.body)
            );
            let wait = response.header("retry-after").map(str::to_owned);
            assert_eq!(
                wait.is_some(),
                response.status == 503,
                "{}",
                response.body.get(..200).unwrap_or(&response.body)
            );
            kept.push((response.status, wait, response.body));
        }
        let others = others.join().unwrap();
        // This variable sets the limit, because only a release build on a dedicated machine can meet it.
        if let Ok(max) = std::env::var("TEST_OTHERS_WAIT_MS") {
            let max = Duration::from_millis(max.parse().unwrap());
            assert!(others.iter().all(|wait| *wait < max), "{others:?}");
        }
        LoadResult { responses: kept, others }
    })
}

fn is_measuring() -> bool {
    std::env::var_os("TEST_BINARY").is_some()
}

fn print_load(service: &TestService, name: &str, load: &LoadResult) {
    let succeeded = load.responses.iter().filter(|response| response.0 < 300).count();
    let longest = load.others.iter().max().unwrap();
    let size = load.responses.iter().map(|response| response.2.len()).max().unwrap();
    println!(
        "{name}: {succeeded} of {CONCURRENT_REQUESTS} done, {size} bytes; {} others, the longest {longest:?}; at most {} KiB",
        load.others.len(),
        process_memory_kib(service, "VmHWM")
    );
}

/// Retries after the time in `Retry-After`. A debug build on a busy machine may never succeed.
fn retry_until_done(one: impl Fn() -> ApiResponse) -> Option<ApiResponse> {
    for _ in 0..if is_measuring() { 100 } else { 3 } {
        let response = one();
        if response.status != 503 {
            assert!(response.status < 300, "{} {}", response.status, response.body);
            return Some(response);
        }
        assert!(response.header("retry-after").is_some());
    }
    assert!(!is_measuring(), "every response was 503");
    None
}

/// Sends the largest recognitions to one user, enough to fill a page.
fn send_largest_messages(service: &TestService, sample: &SampleCompany, user: &str) {
    let mut body = sample.recognition_body("company", &sample.company, &[user], 1);
    body["occasion_id"] = Value::from("01940000-0000-7000-9000-000000000001");
    for _ in 0..PAGE_SIZE {
        assert_eq!(service.post(&sample.provider, "/v1/recognitions", &body).status, 201);
    }
}

fn largest_body(sample: &SampleCompany, users: &[String], n: usize) -> String {
    let all: Vec<&str> = users.iter().map(String::as_str).collect();
    let mut body = sample.recognition_body("company", &sample.company, &all, 1);
    // Line breaks and quotation marks, which the response escapes.
    body["message"] = Value::from(format!("{n:02}{}", "\n\"".repeat(MESSAGE_BYTES / 2 - 1)));
    body.to_string()
}

fn count_recognitions(service: &TestService, sample: &SampleCompany) -> usize {
    let id = &sample.company;
    let of = if service.database.is_embedded() {
        format!("recognitions WHERE company_id = unhex('{}')", id.replace('-', ""))
    } else {
        format!("recognitions WHERE company_id = '{id}'")
    };
    usize::try_from(service.database.count_rows(&of)).unwrap()
}

/// A memory value of the service's process.
pub fn process_memory_kib(service: &TestService, name: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", service.running.pid())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).unwrap();
    line.trim().strip_suffix(" kB").unwrap().parse().unwrap()
}

/// Inserts users and occasions of maximum size directly into the tables, because their creation is not under test.
fn insert_users_and_occasions(service: &TestService, sample: &SampleCompany) -> Vec<String> {
    let (company, at) = (&sample.company, 1_795_000_000_000_000_i64);
    let plain = company.replace('-', "");
    let message = "\u{1f389}".repeat(10_000);
    let sqlite = format!(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {RECEIVERS}) \
         INSERT INTO users (id, company_id, email, email_folded, first_name, manager, company_admin, \
         corporation_admin, created_at, updated_at) \
         SELECT unhex(printf('0194000000007000800000%010d', i)), unhex('{plain}'), i || '@example.com', \
         i || '@example.com', 'Crowd', 0, 0, 0, {at}, {at} FROM n; \
         INSERT INTO accounts (owner_id, kind, company_id, balance, spent, entry_count, rounding_shortfall, created_at) \
         SELECT id, k.kind, company_id, 0, 0, 0, 0, created_at FROM users, \
         (SELECT 1 AS kind UNION SELECT 2) AS k WHERE first_name = 'Crowd'; \
         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {OCCASIONS}) \
         INSERT INTO occasions (id, company_id, name, title, default_message, enabled, visible, created_at, \
         updated_at) SELECT unhex(printf('0194000000007000900000%010d', i)), unhex('{plain}'), 'Large', 'Large', \
         '{message}', 1, 1, {at}, {at} FROM n;"
    );
    let postgres = format!(
        "INSERT INTO users (id, company_id, email, email_folded, first_name, manager, company_admin, \
         corporation_admin, created_at, updated_at) \
         SELECT ('01940000-0000-7000-8000-00' || lpad(i::text, 10, '0'))::uuid, '{company}', i || '@example.com', \
         i || '@example.com', 'Crowd', false, false, false, now(), now() FROM generate_series(1, {RECEIVERS}) AS i; \
         INSERT INTO accounts (owner_id, kind, company_id, balance, spent, entry_count, rounding_shortfall, created_at) \
         SELECT id, k, company_id, 0, 0, 0, 0, created_at FROM users, \
         generate_series(1, 2) AS k WHERE first_name = 'Crowd'; \
         INSERT INTO occasions (id, company_id, name, title, default_message, enabled, visible, created_at, \
         updated_at) SELECT ('01940000-0000-7000-9000-00' || lpad(i::text, 10, '0'))::uuid, '{company}', 'Large', \
         'Large', '{message}', true, true, now(), now() FROM generate_series(1, {OCCASIONS}) AS i; \
         ANALYZE users; ANALYZE accounts; ANALYZE occasions;"
    );
    service.database.execute_sql(&sqlite, &postgres);
    (1..=RECEIVERS).map(|n| format!("01940000-0000-7000-8000-00{n:010}")).collect()
}
