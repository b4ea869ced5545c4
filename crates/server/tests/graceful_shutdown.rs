//! SIGTERM under load: every request that was sent gets a response.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::support::service::{TestService, basic_authorization};
use crate::support::{SampleCompany, for_each_database, wait_until};

/// `TEST_STOPS` replaces this number.
const STOPS: usize = 2;
/// Requests in flight have this long to finish.
const STOP_TIME_MAX: Duration = Duration::from_secs(30);

#[test]
fn a_stop_completes_all_requests_and_exits_with_zero() {
    let stops = std::env::var("TEST_STOPS").ok().map_or(STOPS, |stops| stops.parse().unwrap());
    for_each_database(|service| {
        let sample = SampleCompany::create(service, 2);
        sample.fund_peer_wallets(service, 1_000_000);
        let mut points = 1_000_000;
        for _ in 0..stops {
            let (answered, stopped_at) = load_then_stop(service, &sample);
            assert_eq!(service.running.wait_for_exit().unwrap(), Some(0));
            assert!(stopped_at.elapsed() < STOP_TIME_MAX, "{:?}", stopped_at.elapsed());
            assert_eq!(service.wait_for_log(": stopped duration_ms="), 1);
            service.restart();
            points -= i64::try_from(answered).unwrap();
            assert_eq!(sample.read_balance(service, &sample.users[0], "peer_wallet"), Some(points));
        }
    });
}

/// Stores responses that expired many years ago. Deleting them takes several times the five seconds for which a stop
/// waits for background work.
const INSERT_EXPIRED_RECORDS_SQL: [&str; 2] = [
    "INSERT INTO idempotency_records SELECT zeroblob(16), i, NULL, zeroblob(32), 200, x'', i, i + 1 FROM (WITH RECURSIVE n(i) AS \
     (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000000) SELECT i FROM n)",
    "INSERT INTO idempotency_records SELECT '00000000-0000-0000-0000-000000000000', i, NULL, decode(repeat('00', 32), 'hex'), 200, \
     '', to_timestamp(i), to_timestamp(i + 1) FROM generate_series(1, 1000000) AS n(i)",
];

#[test]
fn background_work_does_not_delay_a_stop() {
    for_each_database(|service| {
        service.running.kill().unwrap();
        service.database.execute_sql(INSERT_EXPIRED_RECORDS_SQL[0], INSERT_EXPIRED_RECORDS_SQL[1]);
        service.restart(); // the restarted service begins to prune
        let expired = if service.database.is_embedded() { 2_000_000 } else { 1_000_000 };
        wait_until("some records should be deleted", || {
            (service.database.count_rows("idempotency_records") < expired).then_some(())
        });
        service.running.terminate().unwrap();
        assert_eq!(service.running.wait_for_exit().unwrap(), Some(0));
        assert!(service.database.count_rows("idempotency_records") > 0, "the stop waited for deletions");
        service.restart();
        assert_eq!(service.run_command(&["verify"]).status, 0);
    });
}

#[test]
fn a_refused_start_creates_no_files() {
    for_each_database(|service| {
        let folder = tempfile::tempdir().unwrap();
        let taken = service.running.api_url.trim_start_matches("https://");
        let key = "f".repeat(64);
        let wrong = [
            ("GUERDON_HTTP__LISTEN", taken, "http.listen"),
            ("GUERDON_OPERATOR__LISTEN", taken, "operator.listen"),
            ("GUERDON_DATABASE__MIGRATE", "false", "database.migrate is false"),
            ("GUERDON_MASTER_KEY_FILE", "/nowhere/master.key", "master_key"),
        ];
        let embedded = service.database.is_embedded();
        for (name, value, told) in wrong {
            if name == "GUERDON_DATABASE__MIGRATE" && !embedded {
                continue; // the PostgreSQL database already exists
            }
            let data = folder.path().join(name);
            let mut start = service.build_command();
            if embedded {
                start.env_remove("GUERDON_DATABASE__URL");
            }
            let refused =
                start.env("GUERDON_DATA_DIR", &data).env(name, value).arg("serve").output().unwrap();
            let stderr = String::from_utf8_lossy(&refused.stderr);
            assert!(refused.status.code() == Some(1) && stderr.contains(told), "{name}: {stderr}");
            assert!(!data.join("guerdon.db").exists() && !data.join("tls").exists(), "{name}: {stderr}");
        }
        if !embedded {
            let mut start = service.build_command();
            let refused = start.env("GUERDON_MASTER_KEY", key).arg("serve").output().unwrap();
            let stderr = String::from_utf8_lossy(&refused.stderr);
            assert!(refused.status.code() == Some(1) && stderr.contains("this master key"), "{stderr}");
        }
    });
}

/// Stops the service under load. Each client sends requests on a kept-alive connection until a response closes it, and
/// reconnects until the service accepts no more connections. Every request on an established connection must get a 201.
/// Returns the number of responses, and when the stop was requested.
fn load_then_stop(service: &TestService, sample: &SampleCompany) -> (usize, Instant) {
    let answered = AtomicUsize::new(0);
    let body = sample.recognition_body("user", &sample.users[0], &[&sample.users[1]], 1).to_string();
    let request = format!(
        "POST /v1/recognitions HTTP/1.1\r\nHost: localhost\r\nAuthorization: {}\r\nContent-Length: {}\r\n\r\n{body}",
        basic_authorization(&sample.provider),
        body.len(),
    );
    let connector = service.running.https();
    let stopped_at = std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                while let Ok(mut connection) = connector.connect() {
                    loop {
                        let response = connection
                            .send_request(request.as_bytes())
                            .expect("every sent request gets a response");
                        assert_eq!(response.status, 201, "{response}");
                        answered.fetch_add(1, Ordering::Relaxed);
                        if response.header("connection") == Some("close") {
                            break;
                        }
                    }
                }
            });
        }
        wait_until("the load should run", || (answered.load(Ordering::Relaxed) > 20).then_some(()));
        service.running.terminate().unwrap();
        Instant::now()
    });
    (answered.into_inner(), stopped_at)
}
