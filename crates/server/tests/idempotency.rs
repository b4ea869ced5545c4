//! A request that is retried with its idempotency key takes effect once.

use std::collections::BTreeSet;

use guerdon_persistence::testing::postgres_if_covered;

use crate::support::service::{ServiceProcess, TestService, basic_authorization};
use crate::support::{SampleCompany, for_each_database, user_body};

#[test]
fn a_retry_with_a_key_gets_the_same_bytes_and_no_second_effect() {
    for_each_database(|service| {
        let sample = SampleCompany::create(service, 2);
        sample.fund_peer_wallets(service, 100);
        let body = sample.recognition_body("user", &sample.users[0], &[&sample.users[1]], 10);
        let first = service.post_with_key(&sample.provider, "/v1/recognitions", &body, "k-1");
        assert_eq!((first.status, first.header("idempotency-replayed")), (201, None), "{}", first.body);
        let again = service.post_with_key(&sample.provider, "/v1/recognitions", &body, "k-1");
        assert_eq!((again.status, again.header("idempotency-replayed")), (201, Some("true")));
        assert_eq!(again.body, first.body);
        service.running.kill().unwrap();
        service.restart();
        let after_crash = service.post_with_key(&sample.provider, "/v1/recognitions", &body, "k-1");
        assert_eq!((after_crash.status, after_crash.body), (201, first.body));
        assert_eq!(sample.read_balance(service, &sample.users[0], "peer_wallet"), Some(90));
    });
}

#[test]
fn a_key_belongs_to_one_request_and_one_provider() {
    for_each_database(|service| {
        let sample = SampleCompany::create(service, 0);
        let path = "/v1/users";
        let body = user_body(&sample.company, "ann");
        assert_eq!(service.post_with_key(&sample.provider, path, &body, "k").status, 201);
        let other_body = user_body(&sample.company, "bob");
        let message = service.post_with_key(&sample.provider, path, &other_body, "k").expect_error(400);
        assert!(message.contains("Idempotency-Key"), "{message}");
        service.post_with_key(&sample.provider, "/v1/occasions", &body, "k").expect_error(400);
        service.post_with_key(&sample.provider, "/v1/users?x=1", &body, "k").expect_error(400);
        let stranger = SampleCompany::create(service, 0);
        let body = user_body(&stranger.company, "ann");
        assert_eq!(service.post_with_key(&stranger.provider, path, &body, "k").status, 201);
    });
}

#[test]
fn a_refused_request_is_not_stored() {
    for_each_database(|service| {
        let sample = SampleCompany::create(service, 2);
        let body = sample.recognition_body("user", &sample.users[0], &[&sample.users[1]], 10);
        let refused = service.post_with_key(&sample.provider, "/v1/recognitions", &body, "k");
        assert_eq!(refused.expect_error(400), "Insufficient funds");
        sample.fund_peer_wallets(service, 10);
        assert_eq!(service.post_with_key(&sample.provider, "/v1/recognitions", &body, "k").status, 201);
    });
}

#[test]
fn a_malformed_key_is_refused() {
    for_each_database(|service| {
        let sample = SampleCompany::create(service, 0);
        for key in ["", " ", "a b", &"x".repeat(256)] {
            let response =
                service.post_with_key(&sample.provider, "/v1/users", &user_body(&sample.company, "a"), key);
            assert!(response.expect_error(400).contains("Idempotency-Key"), "{key:?}");
        }
        let longest = "~".repeat(255);
        let body = user_body(&sample.company, "a");
        assert_eq!(service.post_with_key(&sample.provider, "/v1/users", &body, &longest).status, 201);
    });
}

#[test]
fn sixty_four_concurrent_requests_with_one_key_take_effect_once() {
    for_each_database(|service| {
        let sample = SampleCompany::create(service, 2);
        sample.fund_peer_wallets(service, 1_000);
        let (service, sample) = (&*service, &sample);
        let send = |service: &TestService| {
            let body = sample.recognition_body("user", &sample.users[0], &[&sample.users[1]], 7);
            let response = service.post_with_key(&sample.provider, "/v1/recognitions", &body, "one");
            assert_eq!(response.status, 201, "{}", response.body);
            response.body
        };
        let bodies: BTreeSet<String> = std::thread::scope(|scope| {
            let all: Vec<_> = (0..64).map(|_| scope.spawn(|| send(service))).collect();
            all.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert_eq!(bodies.len(), 1);
        assert_eq!(sample.read_balance(service, &sample.users[0], "peer_wallet"), Some(993));
    });
}

#[test]
fn two_services_execute_concurrent_requests_with_one_key_once() {
    const ROUNDS: i64 = 8;
    let Some(database) = postgres_if_covered() else { return };
    let service = TestService::start(database, &[]);
    let other = service.start_second_process();
    let sample = SampleCompany::create(&service, 2);
    sample.fund_peer_wallets(&service, 1_000);
    let authorization = basic_authorization(&sample.provider);
    let body = sample.recognition_body("user", &sample.users[0], &[&sample.users[1]], 7).to_string();
    for round in 0..ROUNDS {
        let key = round.to_string();
        let headers = [
            ("Authorization", authorization.as_str()),
            ("Content-Type", "application/json"),
            ("Idempotency-Key", &key),
        ];
        let bodies: BTreeSet<String> = std::thread::scope(|scope| {
            let processes = [&service.running, &other].into_iter().cycle().take(32);
            let send = |process: &ServiceProcess| {
                let response = process.send_request("POST", "/v1/recognitions", &headers, Some(&body));
                assert_eq!(response.status, 201, "{}", response.body);
                response.body
            };
            let all: Vec<_> = processes.map(|process| scope.spawn(move || send(process))).collect();
            all.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert_eq!(bodies.len(), 1);
    }
    let balance = sample.read_balance(&service, &sample.users[0], "peer_wallet");
    assert_eq!(balance, Some(1_000 - 7 * ROUNDS));
    assert_eq!(service.run_command(&["verify"]).status, 0);
}
