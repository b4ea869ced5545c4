//! Postings that the embedded database runs on a thread of its own; `sets` tells of PostgreSQL's.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Barrier, Mutex};

use guerdon_domain::ports::{Posting, PostingEnd, Setting, StoreError, StoreExt as _, Tx, Verdict};
use guerdon_domain::recognitions;

use crate::support::{World, on_each};

/// None where it is to be run alone.
type End = Option<Result<(), StoreError>>;

fn end(told: PostingEnd) -> End {
    match told {
        PostingEnd::Ended(end) => Some(end),
        PostingEnd::Alone(_) => None,
    }
}

fn hand_over(
    world: &World,
    work: impl FnMut(&mut dyn Tx) -> Verdict + Send + 'static,
    told: &Sender<End>,
) -> Option<Posting> {
    let told = told.clone();
    let told = Box::new(move |it| told.send(end(it)).unwrap());
    world.store.take_over(Posting { work: Box::new(work), told })
}

fn on_embedded(test: impl Fn(&World, Sender<End>, Receiver<End>)) {
    on_each(|world| {
        let (tell, told) = channel();
        if world.database.is_embedded() {
            test(world, tell, told);
        }
    });
}

/// Runs `then` while somebody else writes.
fn while_another_writes(world: &World, then: impl FnOnce()) {
    let (begun, end) = (Barrier::new(2), Barrier::new(2));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let held = world.store.transaction(|_| {
                begun.wait();
                end.wait();
                Ok::<_, StoreError>(())
            });
            held.unwrap();
        });
        begun.wait();
        then();
        end.wait();
    });
}

#[test]
fn they_run_in_the_order_in_which_they_came_and_each_ends_in_its_own_way() {
    on_embedded(|world, tell, told| {
        let seen = Arc::new(Mutex::new(Vec::new()));
        while_another_writes(world, || {
            for number in 0..100 {
                let seen = Arc::clone(&seen);
                let work = move |tx: &mut dyn Tx| {
                    seen.lock().unwrap().push(number);
                    tx.set_setting(Setting::Maintenance, &number.to_string()).unwrap();
                    assert_ne!(number, 50, "on purpose");
                    if number == 99 { Verdict::Rollback } else { Verdict::Commit }
                };
                assert!(hand_over(world, work, &tell).is_none());
            }
        });
        let ends: Vec<End> = told.iter().take(100).collect();
        assert!(matches!(&ends[50], Some(Err(StoreError::Broken(said))) if said.contains("on purpose")));
        assert_eq!(ends.iter().filter(|it| matches!(it, Some(Ok(())))).count(), 99);
        assert_eq!(*seen.lock().unwrap(), (0..100).collect::<Vec<_>>());
        assert_eq!(world.reading(|reads| reads.setting(Setting::Maintenance)).as_deref(), Some("98"));
    });
}

#[test]
fn no_more_than_a_few_hundred_wait() {
    on_embedded(|world, tell, told| {
        while_another_writes(world, || {
            let mut taken = 0;
            while told.try_recv().is_err() {
                taken += 1;
                assert!(taken < 5_000, "they pile up");
                assert!(hand_over(world, |_| Verdict::Commit, &tell).is_none());
            }
        });
        drop(tell);
        assert!(told.iter().all(|it| matches!(it, Some(Ok(())))), "those that were taken end well");
    });
}

#[test]
fn one_that_writes_much_is_given_back() {
    on_embedded(|world, tell, told| {
        let users: Vec<_> = (0..120).map(|it| world.user(&format!("u{it}"))).collect();
        world.deposit(1_000);
        let sender = recognitions::Sender::Company(world.company);
        assert_eq!(world.send(sender, &users, 1).unwrap().len(), 120);
        drop((tell, told));
    });
}

#[test]
fn what_waits_when_the_store_closes_is_made_first() {
    for database in guerdon_persistence::testing::each().into_iter().filter(|it| it.is_embedded()) {
        let World { database, store, background, .. } = World::new(database);
        let (tell, told) = channel();
        for number in 0..200 {
            let tell = tell.clone();
            let work = move |tx: &mut dyn Tx| {
                tx.set_setting(Setting::Maintenance, &number.to_string()).unwrap();
                Verdict::Commit
            };
            let told = Box::new(move |it| tell.send(end(it)).unwrap());
            assert!(store.take_over(Posting { work: Box::new(work), told }).is_none());
        }
        drop((store, background, tell));
        assert_eq!(told.iter().filter(|it| matches!(it, Some(Ok(())))).count(), 200);
        assert_eq!(database.count("settings WHERE name = 'maintenance' AND value = '199'"), 1);
    }
}
