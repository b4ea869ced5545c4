//! Readiness while the disk is full, or PostgreSQL cannot be reached or does not commit.

use std::time::Instant;

use guerdon_domain::ports::Deadlines;
use guerdon_test_harness::ConnectionFault;
use rustix::process::{Pid, Resource, Rlimit, prlimit};
use serde_json::json;

use crate::support::service::{ApiResponse, TestService};
use crate::support::{SampleCompany, run_on_sqlite, wait_until};

/// Limits the size of the files that the service writes. `None` removes the limit.
fn limit_file_size(service: &TestService, bytes_max: Option<u64>) {
    let maximum = rustix::process::getrlimit(Resource::Fsize).maximum;
    let pid = Pid::from_raw(service.running.pid());
    prlimit(pid, Resource::Fsize, Rlimit { current: bytes_max, maximum }).unwrap();
}

fn wait_until_ready(service: &TestService, expected: u16) {
    wait_until("readiness should change", || {
        (service.running.operator_page_status("/readyz") == expected).then_some(())
    });
}

#[test]
fn a_full_disk_is_reported_once_and_readiness_recovers() {
    run_on_sqlite(|service| {
        let sample = SampleCompany::create(service, 1);
        let create = |number: u32| {
            let body = json!({"name": format!("Corporation {number}")});
            service.post(&sample.provider, "/v1/corporations", &body).status
        };
        assert_eq!((create(0), service.running.operator_page_status("/readyz")), (201, 200));
        limit_file_size(service, Some(0));
        assert!((1..=20).all(|number| create(number) == 503));
        wait_until_ready(service, 503);
        let accept = [("Accept", "application/problem+json")];
        let refused =
            service.post_with_headers(&sample.provider, "/v1/corporations", r#"{"name": "X"}"#, &accept);
        assert_eq!(refused.json()["code"], "unavailable");
        assert_eq!(service.get(&sample.provider, "/v1/companies").status, 200, "reads are served");
        assert!((21..=40).all(|number| create(number) == 503));
        service.wait_for_log("the database rejects writes");
        assert_eq!(service.running.count_in_log("logged once a minute"), 1);
        limit_file_size(service, None);
        wait_until_ready(service, 200);
        assert_eq!(create(41), 201);
        let listed = service.get(&sample.provider, "/v1/corporations").json();
        assert_eq!(listed["total_count"], 2, "refused requests store nothing");
    });
}

#[test]
fn without_postgres_requests_get_503_and_only_readiness_fails_until_it_returns() {
    let Some((proxy, service)) = TestService::start_behind_proxy(&[]) else { return };
    let provider = service.create_provider("Acme", true);
    for fault in [ConnectionFault::Refused, ConnectionFault::TooManyClients, ConnectionFault::BlackHole] {
        wait_until_ready(&service, 200);
        assert_eq!(service.get(&provider, "/v1/companies").status, 200);
        proxy.set_fault(Some(fault));
        if fault != ConnectionFault::BlackHole {
            proxy.cut_connections();
        }
        wait_until_ready(&service, 503);
        assert_eq!(service.running.operator_page_status("/healthz"), 200);
        let body = json!({"name": "Corporation"});
        for response in
            [service.get(&provider, "/v1/companies"), service.post(&provider, "/v1/corporations", &body)]
        {
            let retry_after = response.header("retry-after").is_some();
            assert_eq!((response.status, retry_after), (503, true), "{fault:?}: {}", response.body);
        }
        proxy.set_fault(None);
        proxy.cut_connections();
    }
    wait_until_ready(&service, 200);
    assert_eq!(service.get(&provider, "/v1/corporations").json()["total_count"], 0);
}

#[test]
fn while_commits_hang_requests_that_write_get_503_and_reads_are_served() {
    let Some((proxy, service)) = TestService::start_behind_proxy(&[]) else { return };
    let sample = SampleCompany::create(&service, 2);
    sample.fund_peer_wallets(&service, 20);
    let recognition = sample.recognition_body("user", &sample.users[0], &[&sample.users[1]], 5).to_string();
    let corporation = json!({"name": "Corporation"}).to_string();
    let writes = [("/v1/recognitions", recognition.as_str()), ("/v1/corporations", corporation.as_str())];
    let send = |(path, body): (&str, &str), key: &str| {
        service.post_with_headers(
            &sample.provider,
            path,
            body,
            &[("Idempotency-Key", &format!("{path}-{key}"))],
        )
    };
    let assert_refused = |response: ApiResponse| {
        let retry_after = response.header("retry-after").is_some();
        assert_eq!((response.status, retry_after), (503, true), "{}", response.body);
        assert!(response.body.contains("the database is not available"), "{}", response.body);
    };
    let received = format!("/v1/users/{}/recognitions_received", sample.users[1]);
    let list_all = || [received.as_str(), "/v1/corporations"].map(|path| service.get(&sample.provider, path));
    let count_all = || list_all().map(|response| response.json()["total_count"].as_u64().unwrap());
    let before = count_all();
    proxy.set_fault(Some(ConnectionFault::HeldCommits));
    std::thread::scope(|scope| {
        let started = Instant::now();
        let waiting = writes.map(|write| scope.spawn(move || send(write, "first")));
        service.wait_for_log("commits do not return");
        for key in ["first", "second"] {
            writes.into_iter().for_each(|write| assert_refused(send(write, key)));
        }
        waiting.into_iter().for_each(|request| assert_refused(request.join().unwrap()));
        assert!(started.elapsed() < Deadlines::RESPONSE, "the requests did not learn that commits hang");
    });
    assert_eq!(list_all().map(|response| response.status), [200, 200], "reads are served");
    assert_eq!(service.running.operator_page_status("/readyz"), 200);
    proxy.set_fault(None);
    service.wait_for_log("commits return again");
    for key in ["first", "second"] {
        assert_eq!(writes.map(|write| send(write, key).status), [201, 201]);
    }
    assert_eq!(count_all(), before.map(|count| count + 2), "the retries execute nothing twice");
}
