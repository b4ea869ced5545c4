//! Large distributions, which are executed in several steps.

use guerdon_domain::commands::Refusal;
use guerdon_domain::distributions::{DistributeError, Distribution};
use guerdon_domain::ports::{InTransit, StoreExt as _};
use guerdon_domain::scheduler::finish;
use guerdon_domain::wallets::WalletType;
use guerdon_persistence::testing::each;

use crate::size::crowd;
use crate::support::{World, on_each};

const CROWD: usize = 2_500;

fn begin(world: &World) -> Result<Distribution, Refusal> {
    world.distribute(WalletType::Peer, 3, world.everybody(WalletType::Peer))
}

/// Executes the next step only, as if the process ended afterwards.
fn one_step(world: &World) {
    let mut steps = 0;
    let stopped = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        finish(world.background.as_ref(), &world.commands(), &mut |_| {
            steps += 1;
            std::panic::resume_unwind(Box::new("the process ends here"))
        })
    }));
    assert!(stopped.is_err() && steps == 1);
}

#[test]
fn a_distribution_in_steps_is_sound_after_each_step_and_complete_at_the_end() {
    for database in each() {
        let world = &World::at_rate(database, 7); // a rate at which a point is not a whole fraction of a dollar
        let users = crowd(world, CROWD);
        let everybody = i64::try_from(CROWD).unwrap() + 1;
        world.deposit(3 * everybody);
        begin(world).unwrap();
        let in_transit = world.reading(|reads| reads.in_transit());
        assert_eq!((in_transit.distributions.len(), in_transit.points), (1, 3 * everybody));
        assert_eq!(world.reserve(), 0, "the full amount is debited immediately");
        assert_eq!(world.shows(WalletType::Peer, users[0]), Some((0, 0)));
        assert_eq!(world.audit(), []);
        assert!(matches!(begin(world), Err(Refusal::Distribute(DistributeError::InsufficientFunds))));
        one_step(world);
        assert_eq!(world.audit(), [], "in progress");
        world.delete(users[CROWD - 1]).unwrap();
        assert!(world.finish().is_empty());
        assert_eq!(world.reading(|reads| reads.in_transit()), InTransit::default());
        assert_eq!(world.shows(WalletType::Peer, users[0]), Some((3, 0)));
        assert_eq!(world.shows(WalletType::Peer, users[CROWD - 2]), Some((3, 0)));
        assert_eq!(world.shows(WalletType::Peer, users[CROWD - 1]), Some((0, 0)));
        assert_eq!(world.reserve(), 3, "the points of the deleted user");
        assert_eq!(world.database.count("distributions_under_way"), 0);
        assert_eq!(world.database.count("distribution_steps"), 0);
        assert_eq!(world.audit(), []);
    }
}

#[test]
fn a_seal_waits_for_a_distribution_in_progress() {
    on_each(|world| {
        crowd(world, CROWD);
        world.deposit(10_000);
        begin(world).unwrap();
        one_step(world);
        world.deposit(1);
        let seal = || {
            let next = world
                .reading(|reads| reads.next_seal(guerdon_domain::ports::Clock::now(&*world.clock), 1_000));
            let Some(next) = next else { return 0 };
            world.store.transaction(|tx| tx.insert_seal(&next)).unwrap();
            next.journal_entries.count
        };
        let before = seal();
        assert_eq!(before, world.database.count("journal_entries") - 2);
        assert_eq!(seal(), 0);
        world.finish();
        assert_eq!(seal(), 2);
        assert_eq!(world.audit(), []);
    });
}

#[test]
fn a_distribution_whose_steps_do_not_add_up_is_found() {
    let found = |tamper: &str| {
        let mut results = Vec::new();
        for database in each() {
            let world = World::new(database);
            crowd(&world, CROWD);
            world.deposit(10_000);
            begin(&world).unwrap();
            one_step(&world);
            world.database.tamper(&tamper.replace("NOBODY", "zeroblob(16)"), &tamper.replace("NOBODY", NIL));
            results.push(!world.audit().is_empty());
        }
        assert!(results.iter().all(|result| *result == results[0]), "{tamper}: {results:?}");
        results[0]
    };
    assert!(!found("SELECT 1"));
    assert!(found("DELETE FROM distribution_steps WHERE leg > 2000"), "a step was lost");
    assert!(found("UPDATE distributions_under_way SET unpaid_receivers = 1"), "an extra step");
    assert!(
        found("DELETE FROM distribution_steps; DELETE FROM distributions_under_way"),
        "the distribution was forgotten"
    );
    assert!(
        found("INSERT INTO distributions_under_way VALUES (NOBODY, 0)"),
        "the journal entry does not exist"
    );
    assert!(
        found("INSERT INTO distributions_under_way SELECT id, 1 FROM journal_entries WHERE kind = 6"),
        "a deposit is not a distribution"
    );
}

/// An id that no row has, on PostgreSQL.
const NIL: &str = "'00000000-0000-0000-0000-000000000000'";

#[test]
fn an_unfinishable_distribution_does_not_block_others() {
    for database in each() {
        let world = World::new(database);
        crowd(&world, CROWD);
        world.deposit(20_000);
        begin(&world).unwrap();
        let damage = |nobody: &str| format!("INSERT INTO distributions_under_way VALUES ({nobody}, 0)");
        world.database.tamper(&damage("zeroblob(16)"), &damage(NIL));
        let found: Vec<&str> = world.audit().iter().map(|violation| violation.invariant).collect();
        assert!(found.contains(&"under way"), "{found:?}");
        let failed = world.finish();
        assert_eq!(failed.len(), 1, "{failed:?}");
        assert_eq!(
            world.database.count("distributions_under_way"),
            1,
            "the genuine distribution is finished"
        );
    }
}
