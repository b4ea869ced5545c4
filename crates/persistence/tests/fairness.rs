//! Deadlines and fairness on PostgreSQL: a request that waits does not block others, and no request waits
//! indefinitely. The embedded database has one writer, which executes one operation at a time.

use std::cell::Cell;
use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::sleep; // tidy: lets a deadline pass
use std::time::{Duration, Instant};

use guerdon_domain::ports::{
    Consistency, EventQuery, Setting, Store, StoreError, StoreExt as _, Timestamp, Verdict,
};
use guerdon_domain::recognitions::{SendError, Sender};
use guerdon_domain::values::UserId;
use guerdon_domain::wallets::{Account, WalletType};
use guerdon_persistence::testing::{OpenTransaction, TestDatabase, postgres_if_covered};
use guerdon_persistence::{Access, OpenError, open};

use crate::deliveries::create_events;
use crate::support::{LedgerFixture, on_each_database, on_postgres};

/// The request deadline, and the longest acceptable time to the response.
const DEADLINE: Duration = Duration::from_secs(8);
const RESPONSE_TIME_MAX: Duration = Duration::from_secs(9);
const UNDELAYED_TIME_MAX: Duration = Duration::from_secs(1);

fn lock_wallet(fixture: &LedgerFixture, user: UserId) -> OpenTransaction {
    let rows = format!("SELECT FROM accounts WHERE owner_id = '{user}' FOR UPDATE");
    fixture.database.begin_and_execute(&rows)
}

/// Returns how many of the store's sessions wait for a row lock.
fn count_lock_waiters(database: &TestDatabase) -> i64 {
    database.count_rows("pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'")
}

fn wait_for_lock_waiters(database: &TestDatabase, count: i64) {
    let since = Instant::now();
    while count_lock_waiters(database) < count {
        assert!(since.elapsed() < RESPONSE_TIME_MAX, "{} wait, not {count}", count_lock_waiters(database));
    }
}

/// Creates a user whose peer wallet holds 100 points.
fn create_payer(fixture: &LedgerFixture, name: &str) -> UserId {
    let user = fixture.create_user(name);
    fixture.fund_wallet(WalletType::Peer, user, 100);
    user
}

/// Starts sixteen concurrent payments out of one wallet, which another transaction has locked. As soon as a payment
/// waits for the lock, passes that transaction to `while_locked`. The result of `while_locked` is dropped when all
/// payments have ended. Returns the outcomes of the payments.
fn send_sixteen_concurrently<T>(
    fixture: &LedgerFixture,
    from: UserId,
    to: &[UserId],
    while_locked: impl FnOnce(OpenTransaction) -> T,
) -> Vec<(Result<(), SendError>, Duration)> {
    let held = lock_wallet(fixture, from);
    std::thread::scope(|scope| {
        let one = |receiver: UserId| {
            let since = Instant::now();
            let sent = fixture.send_recognition(Sender::User(from), &[receiver], 1).map(drop);
            (sent, since.elapsed())
        };
        let receivers = to.iter().cycle().take(16);
        let all: Vec<_> = receivers.map(|receiver| scope.spawn(move || one(*receiver))).collect();
        wait_for_lock_waiters(&fixture.database, 1);
        let lock = while_locked(held);
        let ended = all.into_iter().map(|thread| thread.join().unwrap()).collect();
        drop(lock);
        ended
    })
}

#[test]
fn an_erasure_reads_the_bodies_that_another_one_has_written() {
    if let Some(database) = postgres_if_covered() {
        let fixture = &LedgerFixture::new(database);
        create_events(fixture, 1);
        let query = EventQuery { limit: 1, ..EventQuery::default() };
        let event = fixture.read_snapshot(|reads| reads.list_events(&query)).remove(0).id;
        let read_bodies = || fixture.store.transaction(|tx| tx.lock_event_bodies(&[event])).unwrap();
        std::thread::scope(|scope| {
            let mut other = None;
            let changed = fixture.store.transaction(|tx| {
                tx.lock_event_bodies(&[event])?;
                other = Some(scope.spawn(read_bodies));
                wait_for_lock_waiters(&fixture.database, 1);
                tx.replace_event_body(event, b"erased")
            });
            changed.unwrap();
            assert_eq!(other.unwrap().join().unwrap(), [(event, b"erased".to_vec())]);
        });
    }
}

#[test]
fn payments_blocked_by_a_locked_wallet_time_out_and_delay_no_others() {
    on_postgres(|fixture| {
        let (locked, free) = (create_payer(fixture, "locked"), create_payer(fixture, "free"));
        let (to, other_receiver) = (
            [fixture.create_user("a"), fixture.create_user("b"), fixture.create_user("c")],
            fixture.create_user("d"),
        );
        let longest = Cell::new(Duration::ZERO);
        let timed = |work: &dyn Fn()| {
            let since = Instant::now();
            work();
            longest.set(longest.get().max(since.elapsed()));
        };
        let ended = send_sixteen_concurrently(fixture, locked, &to, |held| {
            for _ in 0..20 {
                timed(&|| drop(fixture.send_recognition(Sender::User(free), &[other_receiver], 1).unwrap()));
                timed(&|| drop(fixture.read_snapshot(|reads| reads.list_wallets(locked))));
                timed(&|| {
                    drop(
                        fixture
                            .background
                            .read_snapshot(|reads| reads.get_setting(Setting::Maintenance))
                            .unwrap(),
                    )
                });
                assert!(count_lock_waiters(&fixture.database) <= 4);
            }
            held
        });
        println!("the longest wait of other payments: {:?}", longest.get());
        assert!(longest.get() < UNDELAYED_TIME_MAX, "{:?}", longest.get());
        for (sent, after) in ended {
            assert!(matches!(
                sent,
                Err(SendError::Store(
                    StoreError::Busy | StoreError::DeadlineExceeded | StoreError::Unavailable(_)
                ))
            ));
            assert!(after < RESPONSE_TIME_MAX, "{after:?}");
        }
        assert_eq!(fixture.wallet_points(WalletType::Peer, locked), Some((100, 0)));
        assert_eq!(fixture.wallet_points(WalletType::User, other_receiver), Some((20, 0)));
        assert!(to.iter().all(|user| fixture.wallet_points(WalletType::User, *user) == Some((0, 0))));
    });
}

#[test]
fn payments_blocked_by_a_locked_wallet_succeed_when_it_is_unlocked() {
    on_postgres(|fixture| {
        let locked = create_payer(fixture, "locked");
        let ended = send_sixteen_concurrently(
            fixture,
            locked,
            &[fixture.create_user("a"), fixture.create_user("b")],
            drop,
        );
        for (sent, after) in ended {
            sent.unwrap();
            assert!(after < DEADLINE, "{after:?}");
        }
        assert_eq!(fixture.wallet_points(WalletType::Peer, locked), Some((84, 16)));
    });
}

#[test]
fn writes_cannot_take_the_connections_of_reads_and_background_work() {
    on_postgres(|fixture| {
        let (begun, end) = (Barrier::new(13), Barrier::new(13));
        std::thread::scope(|scope| {
            for _ in 0..12 {
                scope.spawn(|| {
                    let stay = fixture.store.run_transaction(&mut |_| {
                        begun.wait();
                        end.wait();
                        Verdict::Rollback
                    });
                    stay.unwrap();
                });
            }
            begun.wait();
            fixture.read_snapshot(|reads| reads.get_setting(Setting::Maintenance));
            fixture.background.transaction(|tx| tx.set_setting(Setting::Maintenance, "on")).unwrap();
            let since = Instant::now();
            let refused = fixture.store.run_transaction(&mut |_| Verdict::Commit);
            assert!(matches!(refused, Err(StoreError::Unavailable(_))), "{refused:?}");
            assert!(since.elapsed() < 2 * UNDELAYED_TIME_MAX);
            end.wait();
        });
    });
}

#[test]
fn reads_cannot_take_the_connections_of_background_work() {
    on_each_database(|fixture| {
        let (begun, end) = (Barrier::new(9), Barrier::new(9));
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let stay = fixture.store.run_read(Consistency::Snapshot, &mut |_| {
                        begun.wait();
                        end.wait();
                    });
                    stay.unwrap();
                });
            }
            begun.wait();
            fixture.background.read_snapshot(|reads| reads.get_setting(Setting::Maintenance)).unwrap();
            fixture.store.transaction(|tx| tx.set_setting(Setting::Maintenance, "on")).unwrap();
            end.wait();
        });
    });
}

#[test]
fn a_statement_that_exceeds_its_timeout_is_cancelled_and_not_retried() {
    on_postgres(|fixture| {
        let slow = "CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS \
                    $$ BEGIN PERFORM pg_sleep(60); RETURN NEW; END $$; \
                    CREATE TRIGGER slow BEFORE INSERT ON settings FOR EACH ROW EXECUTE FUNCTION slow()";
        fixture.database.execute_sql("", slow);
        let check = |store: &dyn Store, within: Duration| {
            let (runs, since) = (Cell::new(0), Instant::now());
            let ended = store.run_transaction(&mut |tx| {
                runs.set(runs.get() + 1);
                tx.set_setting(Setting::Maintenance, "on").unwrap_or_default();
                Verdict::Commit
            });
            assert_eq!(runs.get(), 1);
            assert!(since.elapsed() < within, "{:?}", since.elapsed());
            ended
        };
        let slow = check(&*fixture.store, Duration::from_secs(6));
        assert!(matches!(slow, Err(StoreError::Unavailable(_))), "{slow:?}");
        let hasty = fixture.database.open_with_limit(UNDELAYED_TIME_MAX).requests;
        let late = check(&*hasty, 2 * UNDELAYED_TIME_MAX); // the deadline ends before the statement timeout
        assert!(matches!(late, Err(StoreError::DeadlineExceeded)), "{late:?}");
        assert_eq!(fixture.read_snapshot(|reads| reads.get_setting(Setting::Maintenance)), None);
        fixture.database.execute_sql("", "DROP TRIGGER slow ON settings");
    });
}

#[test]
fn nothing_commits_after_the_deadline() {
    on_postgres(|fixture| {
        let short = Duration::from_millis(300);
        let hasty = fixture.database.open_with_limit(short).requests;
        let dawdle = |then: &dyn Fn(&mut dyn guerdon_domain::ports::Tx)| {
            let runs = AtomicUsize::new(0);
            let ended = hasty.run_transaction(&mut |tx| {
                runs.fetch_add(1, Ordering::Relaxed);
                tx.set_setting(Setting::Maintenance, "on").unwrap();
                sleep(short);
                then(tx);
                Verdict::Commit
            });
            assert!(matches!(ended, Err(StoreError::DeadlineExceeded)), "{ended:?}");
            assert_eq!(runs.into_inner(), 1);
            assert_eq!(fixture.read_snapshot(|reads| reads.get_setting(Setting::Maintenance)), None);
        };
        dawdle(&|_| ());
        dawdle(&|tx| assert!(tx.get_setting(Setting::Maintenance).is_err()));
        let late = hasty.read_snapshot(|reads| {
            sleep(short);
            reads.get_setting(Setting::Maintenance)
        });
        assert!(matches!(late, Err(StoreError::DeadlineExceeded)));
    });
}

#[test]
fn long_and_background_operations_have_no_deadline() {
    on_postgres(|fixture| {
        let short = Duration::from_millis(300);
        let hasty = fixture.database.open_with_limit(short);
        let unbalanced = hasty.requests.read_snapshot(|reads| {
            let unbalanced = reads.unbalanced_companies()?;
            sleep(short);
            reads.get_setting(Setting::Maintenance)?;
            Ok::<_, StoreError>(unbalanced)
        });
        assert_eq!(unbalanced.unwrap(), 0);
        let lock = hasty.background.transaction(|tx| {
            sleep(short);
            tx.set_setting(Setting::Maintenance, "on")
        });
        lock.unwrap();
    });
}

#[test]
fn a_failed_unit_of_work_runs_no_more_statements() {
    on_each_database(|fixture| {
        let calls = Cell::new(0);
        let result = fixture.store.run_transaction(&mut |tx| {
            let twice = [Account::Reserve(fixture.company)];
            let first =
                tx.open_accounts(fixture.company, &twice, Timestamp::UNIX_EPOCH).unwrap_err().to_string();
            let second = tx.get_setting(Setting::Maintenance).unwrap_err().to_string();
            assert_eq!(first, second);
            calls.set(calls.get() + 1);
            Verdict::Commit
        });
        assert!(result.is_err() && calls.get() > 0);
    });
}

#[test]
fn a_server_that_would_lose_commits_is_refused() {
    if let Some(database) = postgres_if_covered() {
        let served = open(&database.database_url(), Access::Serve).map(drop);
        let is_off = |name: &str| {
            database.count_rows(&format!("pg_settings WHERE name = '{name}' AND setting = 'off'")) > 0
        };
        let [fsync, full_page_writes] = ["fsync", "full_page_writes"].map(|name| {
            let is_reported =
                matches!(&served, Err(OpenError::Failed(error)) if error.contains(&format!("{name} = on")));
            assert_eq!(is_reported, is_off(name), "{name}: {served:?}");
            is_reported
        });
        assert_eq!(served.is_err(), fsync || full_page_writes);
        open(&database.database_url(), Access::ServeWithoutDurability).map(drop).unwrap();
        open(&database.database_url(), Access::Command).map(drop).unwrap();
    }
}

#[test]
fn a_large_recognition_to_a_locked_wallet_delays_no_other_large_one() {
    on_postgres(|fixture| {
        let create_users = |name: &str| -> Vec<UserId> {
            (0..17).map(|number| fixture.create_user(&format!("{name}{number}"))).collect()
        };
        let (receivers, other_receivers) = (create_users("a"), create_users("b"));
        let [sender, other_sender] = ["sender", "other"].map(|name| {
            let user = fixture.create_user(name);
            fixture.fund_wallet(WalletType::Peer, user, 500);
            user
        });
        let held = lock_wallet(fixture, receivers[8]);
        std::thread::scope(|scope| {
            let blocked = scope.spawn(|| fixture.send_recognition(Sender::User(sender), &receivers, 1));
            wait_for_lock_waiters(&fixture.database, 1);
            for _ in 0..3 {
                let since = Instant::now();
                fixture.send_recognition(Sender::User(other_sender), &other_receivers, 1).unwrap();
                assert!(since.elapsed() < 2 * UNDELAYED_TIME_MAX, "{:?}", since.elapsed());
            }
            drop(held);
            blocked.join().unwrap().unwrap();
        });
    });
}
