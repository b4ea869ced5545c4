//! A locked wallet delays only the requests that need it.

use std::time::{Duration, Instant};

use crate::support::{Sample, on_each};

#[test]
fn requests_blocked_by_a_locked_wallet_delay_no_others() {
    on_each(|service| {
        if service.database.is_embedded() {
            return; // only the service can take locks in it
        }
        let (locked, other) = (Sample::make(service, 2), Sample::make(service, 2));
        locked.fund(service, 100);
        other.fund(service, 100);
        let wallet = &locked.users[0];
        let held =
            service.database.hold(&format!("SELECT FROM accounts WHERE owner_id = '{wallet}' FOR UPDATE"));
        let service = &*service;
        let waits = "pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
        let (mut rounds, mut longest) = (0, Duration::ZERO);
        std::thread::scope(|scope| {
            let one = || {
                let since = Instant::now();
                (locked.send(service, wallet, &[&locked.users[1]], 1).status, since.elapsed())
            };
            let all: Vec<_> = (0..16).map(|_| scope.spawn(one)).collect();
            while service.database.count(waits) < 1 {} // one; the others wait for it in the service
            while !all.iter().all(std::thread::ScopedJoinHandle::is_finished) {
                let since = Instant::now();
                assert_eq!(other.shows(service, &other.users[0], "peer_wallet"), Some(100 - rounds));
                assert_eq!(other.send(service, &other.users[0], &[&other.users[1]], 1).status, 201);
                assert_eq!(service.running.health("/readyz"), 200);
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
        assert_eq!(locked.shows(service, wallet, "peer_wallet"), Some(100));
        assert_eq!(locked.send(service, wallet, &[&locked.users[1]], 1).status, 201);
    });
}
