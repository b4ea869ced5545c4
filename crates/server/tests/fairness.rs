//! A locked wallet delays only the requests that need it.

use std::time::{Duration, Instant};

use crate::support::{SampleCompany, for_each_database};

#[test]
fn requests_blocked_by_a_locked_wallet_delay_no_others() {
    for_each_database(|service| {
        if service.database.is_embedded() {
            return; // only the service can take locks in the embedded database
        }
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
            while service.database.count_rows(waits) < 1 {} // one waits in the database, the others in the service
            while !all.iter().all(std::thread::ScopedJoinHandle::is_finished) {
                let since = Instant::now();
                assert_eq!(other.read_balance(service, &other.users[0], "peer_wallet"), Some(100 - rounds));
                assert_eq!(
                    other.send_recognition(service, &other.users[0], &[&other.users[1]], 1).status,
                    201
                );
                assert_eq!(service.running.health_status("/readyz"), 200);
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
