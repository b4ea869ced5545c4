//! The unit of work: the effects of a verdict, a failure and a panic.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Barrier;
use std::sync::mpsc::channel;
use std::time::Duration;

use guerdon_domain::idempotency::{IdempotencyKey, IdempotencyRecord};
use guerdon_domain::ports::{Consistency, Setting, StoreError, StoreExt as _, Verdict};
use guerdon_domain::wallets::Account;
use guerdon_persistence::{Access, DatabaseUrl, open};
use uuid::Uuid;

use crate::support::{LedgerFixture, on_each_database};

const WAIT_MAX: Duration = Duration::from_secs(30);

fn maintenance_setting(fixture: &LedgerFixture) -> Option<String> {
    fixture.read_snapshot(|reads| reads.get_setting(Setting::Maintenance))
}

#[test]
fn an_error_rolls_back_and_ok_commits() {
    on_each_database(|fixture| {
        let refused = fixture.store.transaction(|tx| {
            tx.set_setting(Setting::Maintenance, "on")?;
            Err::<(), _>(StoreError::Broken("on purpose".into()))
        });
        assert!(matches!(refused, Err(StoreError::Broken(_))));
        assert_eq!(maintenance_setting(fixture), None);
        fixture.store.transaction(|tx| tx.set_setting(Setting::Maintenance, "on")).unwrap();
        fixture.store.transaction(|tx| tx.set_setting(Setting::Maintenance, "off")).unwrap();
        assert_eq!(maintenance_setting(fixture).as_deref(), Some("off"));
    });
}

#[test]
fn a_no_wait_read_fails_instead_of_waiting() {
    on_each_database(|fixture| {
        let try_read = || {
            let mut runs = 0;
            let result = fixture.store.run_read(Consistency::PerStatementNoWait, &mut |_| runs += 1);
            assert!(matches!(result, Ok(()) | Err(StoreError::WouldBlock)), "{result:?}");
            assert_eq!(runs, i32::from(result.is_ok()));
            result.is_ok()
        };
        assert_eq!(try_read(), fixture.database.is_embedded());
        if fixture.database.is_embedded() {
            within_readers(fixture, 0, &|| {
                assert!(!try_read(), "every reader is busy, and the read does not wait")
            });
            assert!(try_read());
        }
    });
}

/// Runs `then` while every reader is occupied by an unfinished query.
fn within_readers(fixture: &LedgerFixture, held: usize, then: &dyn Fn()) {
    assert!(held < 1_000, "the number of readers is bounded");
    let mut is_free = false;
    let _none_left = fixture.store.run_read(Consistency::PerStatementNoWait, &mut |_| {
        is_free = true;
        within_readers(fixture, held + 1, then);
    });
    if !is_free {
        then();
    }
}

#[test]
fn a_swallowed_failure_still_rolls_back() {
    on_each_database(|fixture| {
        let fate = fixture.store.run_transaction(&mut |tx| {
            tx.set_setting(Setting::Maintenance, "on").unwrap();
            let twice = [Account::Reserve(fixture.company)];
            assert!(
                tx.open_accounts(fixture.company, &twice, guerdon_domain::ports::Timestamp::UNIX_EPOCH)
                    .is_err()
            );
            Verdict::Commit
        });
        assert!(matches!(fate, Err(StoreError::Broken(_))));
        assert_eq!(maintenance_setting(fixture), None);
    });
}

#[test]
fn a_panic_rolls_back_only_its_own_unit() {
    on_each_database(|fixture| {
        let barrier = Barrier::new(8);
        std::thread::scope(|scope| {
            for client in 0..8 {
                let barrier = &barrier;
                scope.spawn(move || {
                    barrier.wait();
                    if client % 2 == 0 {
                        fixture.create_user(&format!("survivor{client}"));
                        return;
                    }
                    let panicked = catch_unwind(AssertUnwindSafe(|| {
                        fixture.store.run_transaction(&mut |tx| {
                            tx.set_setting(Setting::Maintenance, "on").unwrap();
                            panic!("on purpose");
                        })
                    }));
                    assert!(panicked.is_err());
                });
            }
        });
        assert_eq!(maintenance_setting(fixture), None);
        assert_eq!(fixture.read_snapshot(|reads| reads.count_active_users(fixture.company)), 5);
    });
}

/// A unit of the embedded database normally shares the commit of the unit that waits for the writer behind it.
#[test]
fn no_unit_waits_for_the_commit_of_a_long_one() {
    on_each_database(|fixture| {
        let (short_begins, short_is_begun) = channel();
        let (long_begins, long_is_begun) = channel();
        let (short_ended, has_ended) = channel();
        std::thread::scope(|scope| {
            scope.spawn(move || {
                let short = fixture.store.transaction(|tx| {
                    short_begins.send(()).unwrap();
                    long_is_begun.recv_timeout(WAIT_MAX).unwrap();
                    (0..1_000).for_each(|_| std::thread::yield_now()); // the long unit queues for the writer
                    tx.set_setting(Setting::Maintenance, "on")
                });
                short.unwrap();
                short_ended.send(()).unwrap();
            });
            short_is_begun.recv_timeout(WAIT_MAX).unwrap();
            long_begins.send(()).unwrap();
            let long = fixture.background.long_transaction(|tx| {
                has_ended.recv_timeout(WAIT_MAX).unwrap();
                tx.get_setting(Setting::Maintenance)
            });
            assert_eq!(long.unwrap().as_deref(), Some("on"));
        });
    });
}

#[test]
fn a_record_is_stored_until_it_expires_and_then_replaced() {
    on_each_database(|fixture| {
        let key = IdempotencyKey { scope: fixture.provider.as_uuid(), key: "k".into() };
        let at = |hours: i64| guerdon_domain::ports::Timestamp::UNIX_EPOCH + time::Duration::hours(hours);
        let record = |body: &str, from: i64| IdempotencyRecord {
            key: key.clone(),
            company_id: Some(fixture.company),
            request_hash: vec![7; 32],
            status: 201,
            body: body.as_bytes().to_vec(),
            created_at: at(from),
            expires_at: at(from + 72),
        };
        let find = |now: i64, key: &IdempotencyKey| {
            fixture.store.transaction(|tx| tx.find_idempotency_record(key, at(now))).unwrap()
        };
        let keep =
            |record: &IdempotencyRecord| fixture.store.transaction(|tx| tx.store_idempotency_record(record));
        keep(&record("first", 0)).unwrap();
        assert_eq!(find(71, &key), Some(record("first", 0)));
        assert_eq!(find(72, &key), None);
        assert_eq!(find(1, &IdempotencyKey { scope: Uuid::nil(), key: "k".into() }), None);
        assert!(matches!(keep(&record("second", 71)), Err(StoreError::Busy)));
        keep(&record("third", 72)).unwrap();
        assert_eq!(find(73, &key), Some(record("third", 72)));
        let prune =
            |now: i64| fixture.store.transaction(|tx| tx.prune_idempotency_records(at(now), 10)).unwrap();
        assert_eq!((prune(143), prune(144), prune(145)), (0, 1, 0));
    });
}

#[test]
fn a_claimed_key_is_held_until_the_transaction_ends() {
    on_each_database(|fixture| {
        let key = IdempotencyKey { scope: fixture.provider.as_uuid(), key: "k".into() };
        let claim = || fixture.store.transaction(|tx| tx.claim_idempotency_key(&key)).unwrap();
        assert!(claim());
        if fixture.database.is_embedded() {
            return; // one writer: a second transaction does not begin before the first ends
        }
        let nested = fixture.store.transaction(|tx| {
            assert!(tx.claim_idempotency_key(&key)?);
            Ok::<_, StoreError>(claim())
        });
        assert!(!nested.unwrap());
        assert!(claim());
    });
}

#[test]
fn errors_reveal_no_part_of_a_password() {
    for url in ["postgres://u:p%zzsecret@localhost:1/x", "postgres://u:secret@localhost:port/x"] {
        let Err(told) = open(&DatabaseUrl::Postgres(url.into()), Access::Command).map(drop) else { panic!() };
        assert!(!told.to_string().contains("secret"), "{told}");
    }
}

#[test]
fn the_database_itself_refuses_a_negative_balance_and_a_changed_transfer() {
    on_each_database(|fixture| {
        let ann = fixture.create_user("ann");
        fixture.fund_wallet(guerdon_domain::wallets::WalletType::Peer, ann, 5);
        let refused = |sql: &str| {
            let tampered = catch_unwind(AssertUnwindSafe(|| fixture.database.execute_sql(sql, sql)));
            assert!(tampered.is_err(), "{sql}");
        };
        refused("UPDATE accounts SET balance = -1 WHERE kind = 2");
        refused("UPDATE accounts SET balance = -1 WHERE kind = 4");
        refused("UPDATE transfers SET amount = amount + 1");
        refused("DELETE FROM transfers");
    });
}
