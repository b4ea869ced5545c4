//! SIGTERM under load: every request that was sent gets a response.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::support::service::{Service, basic};
use crate::support::wire::Dialer;
use crate::support::{Sample, on_each, until};

#[test]
fn a_stop_completes_all_requests_and_exits_with_zero() {
    on_each(|service| {
        let sample = Sample::make(service, 2);
        sample.fund(service, 1_000_000);
        let answered = load_then_stop(service, &sample);
        assert_eq!(service.running.ended(), Some(0));
        assert!(answered > 20, "the load must have been real: {answered}");
        until("the stop should be logged", || (service.running.says(": stopped\n") == 1).then_some(()));
        service.restart();
        let left = 1_000_000 - i64::try_from(answered).unwrap();
        assert_eq!(sample.shows(service, &sample.users[0], "peer_wallet"), Some(left));
    });
}

/// Stored responses that expired many years ago. Their deletion takes several times the five seconds that a stop waits
/// for background work.
const EXPIRED: [&str; 2] = [
    "INSERT INTO idempotency_records SELECT zeroblob(16), i, zeroblob(32), 200, x'', i, i + 1 FROM (WITH RECURSIVE n(i) AS \
     (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000000) SELECT i FROM n)",
    "INSERT INTO idempotency_records SELECT '00000000-0000-0000-0000-000000000000', i, decode(repeat('00', 32), 'hex'), 200, \
     '', to_timestamp(i), to_timestamp(i + 1) FROM generate_series(1, 1000000) AS n(i)",
];

#[test]
fn background_work_does_not_delay_a_stop() {
    on_each(|service| {
        service.running.kill();
        service.database.tamper(EXPIRED[0], EXPIRED[1]);
        service.restart(); // the restarted service begins to prune
        let expired = if service.database.is_embedded() { 2_000_000 } else { 1_000_000 };
        until("some records should be deleted", || {
            (service.database.count("idempotency_records") < expired).then_some(())
        });
        service.running.terminate();
        assert_eq!(service.running.ended(), Some(0));
        assert!(service.database.count("idempotency_records") > 0, "the stop waited for all deletions");
        service.restart();
        assert_eq!(service.guerdon(&["verify"]).status, 0);
    });
}

#[test]
fn a_refused_start_creates_no_files() {
    on_each(|service| {
        let folder = tempfile::tempdir().unwrap();
        let taken = service.running.api.trim_start_matches("https://");
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
                continue; // that database already exists
            }
            let data = folder.path().join(name);
            let mut start = service.command();
            if embedded {
                start.env_remove("GUERDON_DATABASE__URL");
            }
            let refused =
                start.env("GUERDON_DATA_DIR", &data).env(name, value).arg("serve").output().unwrap();
            let said = String::from_utf8_lossy(&refused.stderr);
            assert!(refused.status.code() == Some(1) && said.contains(told), "{name}: {said}");
            assert!(!data.join("guerdon.db").exists() && !data.join("tls").exists(), "{name}: {said}");
        }
        if !embedded {
            let mut start = service.command();
            let refused = start.env("GUERDON_MASTER_KEY", key).arg("serve").output().unwrap();
            let said = String::from_utf8_lossy(&refused.stderr);
            assert!(refused.status.code() == Some(1) && said.contains("this master key"), "{said}");
        }
    });
}

/// Each client sends on a kept-alive connection until the response says to close it, and reconnects until no
/// connection succeeds. Every request on an established connection must get a 201. Returns the number of responses.
fn load_then_stop(service: &Service, sample: &Sample) -> usize {
    let answered = AtomicUsize::new(0);
    let body = sample.recognition("user", &sample.users[0], &[&sample.users[1]], 1).to_string();
    let request = format!(
        "POST /v1/recognitions HTTP/1.1\r\nHost: localhost\r\nAuthorization: {}\r\nContent-Length: {}\r\n\r\n{body}",
        basic(&sample.provider),
        body.len(),
    );
    let dialer = Dialer::new(service);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                while let Some(mut wire) = dialer.dial() {
                    loop {
                        let answer =
                            wire.ask(request.as_bytes()).expect("every sent request gets a response");
                        assert!(answer.starts_with("HTTP/1.1 201"), "{answer}");
                        answered.fetch_add(1, Ordering::Relaxed);
                        if answer.to_lowercase().contains("connection: close") {
                            break;
                        }
                    }
                }
            });
        }
        std::thread::sleep(Duration::from_millis(300)); // tidy: the load runs for a while before the stop
        service.running.terminate();
    });
    answered.into_inner()
}
