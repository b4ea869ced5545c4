//! A provider whose requests wait for the database delays no other provider. The tests take locks from outside the
//! service, which only PostgreSQL permits.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::support::service::{ApiResponse, TestService};
use crate::support::{SampleCompany, run_on_postgres, wait_until};

/// The concurrent requests of the provider that is delayed: more than the service has connections.
const DELAYED_REQUESTS: usize = 30;

#[test]
fn requests_blocked_by_a_locked_wallet_delay_no_others() {
    run_on_postgres(|service| {
        let (locked, other) = (SampleCompany::create(service, 2), SampleCompany::create(service, 2));
        locked.fund_peer_wallets(service, 100);
        other.fund_peer_wallets(service, 100);
        let wallet = &locked.users[0];
        let held = service
            .database
            .begin_and_execute(&format!("SELECT FROM accounts WHERE owner_id = '{wallet}' FOR UPDATE"));
        let service = &*service;
        let waits = "pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
        let (mut rounds, mut longest) = (0, Duration::ZERO);
        std::thread::scope(|scope| {
            let send_one = || {
                let since = Instant::now();
                (locked.send_recognition(service, wallet, &[&locked.users[1]], 1).status, since.elapsed())
            };
            let all: Vec<_> = (0..16).map(|_| scope.spawn(send_one)).collect();
            // One waits in the database, the others in the service.
            wait_until("a request should wait for the lock", || {
                (service.database.count_rows(waits) > 0).then_some(())
            });
            while !all.iter().all(std::thread::ScopedJoinHandle::is_finished) {
                let since = Instant::now();
                assert_eq!(other.read_balance(service, &other.users[0], "peer_wallet"), Some(100 - rounds));
                assert_eq!(
                    other.send_recognition(service, &other.users[0], &[&other.users[1]], 1).status,
                    201
                );
                assert_eq!(service.running.operator_page_status("/readyz"), 200);
                rounds += 1;
                longest = longest.max(since.elapsed());
                if rounds == 90 {
                    break;
                }
            }
            for thread in all {
                let (status, after) = thread.join().unwrap();
                assert_eq!(status, 503);
                assert!(after < Duration::from_secs(10), "{after:?}");
            }
        });
        println!("{rounds} rounds of three others, the longest {longest:?}");
        assert!(rounds > 0 && longest < Duration::from_secs(2), "{rounds}: {longest:?}");
        drop(held);
        assert_eq!(locked.read_balance(service, wallet, "peer_wallet"), Some(100));
        assert_eq!(locked.send_recognition(service, wallet, &[&locked.users[1]], 1).status, 201);
    });
}

#[test]
fn slow_reads_of_one_provider_delay_no_other_provider() {
    run_on_postgres(|service| {
        let (slow, other) = (SampleCompany::create(service, 1), SampleCompany::create(service, 1));
        let (received, company) = (
            format!("/v1/users/{}/recognitions_received", slow.users[0]),
            format!("/v1/companies/{}", other.company),
        );
        delay_one_provider(
            service,
            "LOCK TABLE recognitions IN ACCESS EXCLUSIVE MODE",
            &|| service.get(&slow.provider, &received),
            &|| service.get(&other.provider, &company),
        );
    });
}

#[test]
fn slow_writes_of_one_provider_delay_no_other_provider() {
    run_on_postgres(|service| {
        let (slow, other) = (SampleCompany::create(service, 1), SampleCompany::create(service, 1));
        let rename = |sample: &SampleCompany| {
            let path = format!("/v1/users/{}", sample.users[0]);
            service.put(&sample.provider, &path, &json!({"first_name": "Grace"}))
        };
        delay_one_provider(
            service,
            &format!("SELECT FROM users WHERE id = '{}' FOR UPDATE", slow.users[0]),
            &|| rename(&slow),
            &|| rename(&other),
        );
    });
}

/// While another session holds a lock, sends many requests that wait for the lock, and others one after the other,
/// each of which must succeed at once.
fn delay_one_provider(
    service: &TestService,
    lock: &str,
    send_delayed: &(dyn Fn() -> ApiResponse + Sync),
    send_other: &(dyn Fn() -> ApiResponse + Sync),
) {
    let held = service.database.begin_and_execute(lock);
    let waits = "pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
    let (mut rounds, mut longest) = (0, Duration::ZERO);
    std::thread::scope(|scope| {
        let all: Vec<_> = (0..DELAYED_REQUESTS).map(|_| scope.spawn(send_delayed)).collect();
        let all_ended = || all.iter().all(std::thread::ScopedJoinHandle::is_finished);
        wait_until("a request should wait for the lock", || {
            (service.database.count_rows(waits) > 0 || all_ended()).then_some(())
        });
        while !all_ended() && rounds < 90 {
            let since = Instant::now();
            assert_eq!(send_other().status, 200);
            rounds += 1;
            longest = longest.max(since.elapsed());
        }
        drop(held);
    });
    assert!(rounds > 0 && longest < Duration::from_millis(900), "{rounds}: {longest:?}");
    assert_eq!(send_delayed().status, 200);
}
