//! Deadlines and fairness on PostgreSQL: a request that waits does not block others, and no request waits
//! indefinitely. The embedded database has one writer, which executes one operation after the other.

use std::cell::Cell;
use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::sleep; // tidy: lets a deadline pass
use std::time::{Duration, Instant};

use guerdon_domain::audit::{Examination, Part};
use guerdon_domain::ports::{Consistency, Setting, Store, StoreError, StoreExt as _, Timestamp, Verdict};
use guerdon_domain::recognitions::{SendError, Sender};
use guerdon_domain::values::UserId;
use guerdon_domain::wallets::{Account, WalletType};
use guerdon_persistence::testing::{Held, TestDatabase, each};
use guerdon_persistence::{Access, OpenError, open};

use crate::support::{TestBodies, World, on_each};

/// The request deadline, and the longest acceptable time to the response.
const DEADLINE: Duration = Duration::from_secs(8);
const ANSWERED: Duration = Duration::from_secs(9);
const PROMPT: Duration = Duration::from_secs(1);

fn on_postgres(test: impl Fn(&World)) {
    on_each(|world| {
        if !world.database.is_embedded() {
            test(world);
        }
    });
}

fn lock_wallet(world: &World, user: UserId) -> Held {
    let rows = format!("SELECT FROM accounts WHERE owner_id = '{user}' FOR UPDATE");
    world.database.hold(&rows)
}

/// Returns how many of the store's sessions wait for a row lock.
fn waiting(database: &TestDatabase) -> i64 {
    database.count("pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'")
}

fn until_waiting(database: &TestDatabase, count: i64) {
    let since = Instant::now();
    while waiting(database) < count {
        assert!(since.elapsed() < ANSWERED, "{} wait, not {count}", waiting(database));
    }
}

/// Creates a user whose peer wallet holds 100 points.
fn payer(world: &World, name: &str) -> UserId {
    let user = world.user(name);
    world.fund(WalletType::Peer, user, 100);
    user
}

/// Starts sixteen concurrent payments out of one locked wallet. `meanwhile` runs when one of them waits for the lock,
/// and returns when the lock is to be released. Returns the outcomes.
fn sixteen<T>(
    world: &World,
    from: UserId,
    to: &[UserId],
    meanwhile: impl FnOnce(Held) -> T,
) -> Vec<(Result<(), SendError>, Duration)> {
    let held = lock_wallet(world, from);
    std::thread::scope(|scope| {
        let one = |receiver: UserId| {
            let since = Instant::now();
            let sent = world.send(Sender::User(from), &[receiver], 1).map(drop);
            (sent, since.elapsed())
        };
        let receivers = to.iter().cycle().take(16);
        let all: Vec<_> = receivers.map(|receiver| scope.spawn(move || one(*receiver))).collect();
        until_waiting(&world.database, 1);
        let kept = meanwhile(held);
        let ended = all.into_iter().map(|thread| thread.join().unwrap()).collect();
        drop(kept);
        ended
    })
}

#[test]
fn payments_blocked_by_a_locked_wallet_time_out_and_delay_no_others() {
    on_postgres(|world| {
        let (locked, free) = (payer(world, "locked"), payer(world, "free"));
        let (to, elsewhere) = ([world.user("a"), world.user("b"), world.user("c")], world.user("d"));
        let longest = Cell::new(Duration::ZERO);
        let timed = |work: &dyn Fn()| {
            let since = Instant::now();
            work();
            longest.set(longest.get().max(since.elapsed()));
        };
        let ended = sixteen(world, locked, &to, |held| {
            for _ in 0..20 {
                timed(&|| drop(world.send(Sender::User(free), &[elsewhere], 1).unwrap()));
                timed(&|| drop(world.reading(|reads| reads.wallets(locked))));
                timed(&|| {
                    drop(world.background.snapshot(|reads| reads.setting(Setting::Maintenance)).unwrap())
                });
                assert!(waiting(&world.database) <= 4);
            }
            held
        });
        println!("the longest that anybody else waited: {:?}", longest.get());
        assert!(longest.get() < PROMPT, "{:?}", longest.get());
        for (sent, after) in ended {
            assert!(matches!(
                sent,
                Err(SendError::Store(
                    StoreError::Busy | StoreError::DeadlineExceeded | StoreError::Unavailable(_)
                ))
            ));
            assert!(after < ANSWERED, "{after:?}");
        }
        assert_eq!(world.shows(WalletType::Peer, locked), Some((100, 0)));
        assert_eq!(world.shows(WalletType::User, elsewhere), Some((20, 0)));
        assert!(to.iter().all(|user| world.shows(WalletType::User, *user) == Some((0, 0))));
    });
}

#[test]
fn payments_blocked_by_a_locked_wallet_succeed_when_it_is_unlocked() {
    on_postgres(|world| {
        let locked = payer(world, "locked");
        let ended = sixteen(world, locked, &[world.user("a"), world.user("b")], drop);
        for (sent, after) in ended {
            sent.unwrap();
            assert!(after < DEADLINE, "{after:?}");
        }
        assert_eq!(world.shows(WalletType::Peer, locked), Some((84, 16)));
    });
}

#[test]
fn writes_cannot_take_the_connections_of_reads_and_background_work() {
    on_postgres(|world| {
        let (begun, end) = (Barrier::new(13), Barrier::new(13));
        std::thread::scope(|scope| {
            for _ in 0..12 {
                scope.spawn(|| {
                    let stay = world.store.run(&mut |_| {
                        begun.wait();
                        end.wait();
                        Verdict::Rollback
                    });
                    stay.unwrap();
                });
            }
            begun.wait();
            world.reading(|reads| reads.setting(Setting::Maintenance));
            world.background.transaction(|tx| tx.set_setting(Setting::Maintenance, "on")).unwrap();
            let since = Instant::now();
            let refused = world.store.run(&mut |_| Verdict::Commit);
            assert!(matches!(refused, Err(StoreError::Unavailable(_))), "{refused:?}");
            assert!(since.elapsed() < 2 * PROMPT);
            end.wait();
        });
    });
}

#[test]
fn reads_cannot_take_the_connections_of_background_work() {
    on_each(|world| {
        let (begun, end) = (Barrier::new(9), Barrier::new(9));
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let stay = world.store.read(Consistency::Snapshot, &mut |_| {
                        begun.wait();
                        end.wait();
                    });
                    stay.unwrap();
                });
            }
            begun.wait();
            world.background.snapshot(|reads| reads.setting(Setting::Maintenance)).unwrap();
            world.store.transaction(|tx| tx.set_setting(Setting::Maintenance, "on")).unwrap();
            end.wait();
        });
    });
}

#[test]
fn a_statement_that_exceeds_its_timeout_is_cancelled_and_not_retried() {
    on_postgres(|world| {
        let slow = "CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS \
                    $$ BEGIN PERFORM pg_sleep(60); RETURN NEW; END $$; \
                    CREATE TRIGGER slow BEFORE INSERT ON settings FOR EACH ROW EXECUTE FUNCTION slow()";
        world.database.tamper("", slow);
        let check = |store: &dyn Store, within: Duration| {
            let (runs, since) = (Cell::new(0), Instant::now());
            let ended = store.run(&mut |tx| {
                runs.set(runs.get() + 1);
                tx.set_setting(Setting::Maintenance, "on").unwrap_or_default();
                Verdict::Commit
            });
            assert!(matches!(ended, Err(StoreError::Unavailable(_))), "{ended:?}");
            assert_eq!(runs.get(), 1);
            assert!(since.elapsed() < within, "{:?}", since.elapsed());
        };
        check(&*world.store, Duration::from_secs(6));
        check(&*world.database.opened_within(PROMPT).requests, 2 * PROMPT); // less time remains than the deadline
        assert_eq!(world.reading(|reads| reads.setting(Setting::Maintenance)), None);
        world.database.tamper("", "DROP TRIGGER slow ON settings");
    });
}

#[test]
fn nothing_commits_after_the_deadline() {
    on_postgres(|world| {
        let short = Duration::from_millis(300);
        let hasty = world.database.opened_within(short).requests;
        let dawdle = |then: &dyn Fn(&mut dyn guerdon_domain::ports::Tx)| {
            let runs = AtomicUsize::new(0);
            let ended = hasty.run(&mut |tx| {
                runs.fetch_add(1, Ordering::Relaxed);
                tx.set_setting(Setting::Maintenance, "on").unwrap();
                sleep(short);
                then(tx);
                Verdict::Commit
            });
            assert!(matches!(ended, Err(StoreError::DeadlineExceeded)), "{ended:?}");
            assert_eq!(runs.into_inner(), 1);
            assert_eq!(world.reading(|reads| reads.setting(Setting::Maintenance)), None);
        };
        dawdle(&|_| ());
        dawdle(&|tx| assert!(tx.setting(Setting::Maintenance).is_err()));
        let late = hasty.snapshot(|reads| {
            sleep(short);
            reads.setting(Setting::Maintenance)
        });
        assert!(matches!(late, Err(StoreError::DeadlineExceeded)));
    });
}

#[test]
fn long_and_background_operations_have_no_deadline() {
    on_postgres(|world| {
        let short = Duration::from_millis(300);
        let hasty = world.database.opened_within(short);
        let asked = Examination {
            head: None,
            bodies: &TestBodies,
            now: world.context().clock.now(),
            longest_wait: short,
        };
        let audited = hasty.requests.snapshot(|reads| {
            let found = reads.audit(Part::Tables, &asked)?;
            sleep(short);
            reads.setting(Setting::Maintenance)?;
            Ok::<_, StoreError>(found.into_violations())
        });
        assert_eq!(audited.unwrap(), []);
        let kept = hasty.background.transaction(|tx| {
            sleep(short);
            tx.set_setting(Setting::Maintenance, "on")
        });
        kept.unwrap();
    });
}

#[test]
fn a_failed_unit_of_work_runs_no_more_statements() {
    on_each(|world| {
        let told = Cell::new(0);
        let fate = world.store.run(&mut |tx| {
            let twice = [Account::Reserve(world.company)];
            let first = tx.open(world.company, &twice, Timestamp::UNIX_EPOCH).unwrap_err().to_string();
            let second = tx.setting(Setting::Maintenance).unwrap_err().to_string();
            assert_eq!(first, second);
            told.set(told.get() + 1);
            Verdict::Commit
        });
        assert!(fate.is_err() && told.get() > 0);
    });
}

#[test]
fn a_server_that_would_lose_commits_is_refused() {
    for database in each().into_iter().filter(|database| !database.is_embedded()) {
        let unsafe_settings = "pg_settings WHERE name IN ('fsync', 'full_page_writes') AND setting = 'off'";
        let served = open(&database.address(), Access::Serve).map(drop);
        if database.count(unsafe_settings) == 0 {
            served.unwrap();
        } else {
            assert!(matches!(served, Err(OpenError::Failed(error)) if error.contains("= on")));
        }
        open(&database.address(), Access::Rehearse).map(drop).unwrap();
        open(&database.address(), Access::Command).map(drop).unwrap();
    }
}
