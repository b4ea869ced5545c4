//! The unit of work: all or nothing.

use super::world::{World, profile};
use crate::decide::carry_out;
use crate::events::EventKind;
use crate::ports::{StoreError, Timestamp, Verdict};
use crate::users::{self, CreateUserError};
use crate::wallets::Account;

fn count(world: &World<'_>) -> i64 {
    world.read(|tx| tx.active_user_count(world.company))
}

pub(super) fn an_error_rolls_back_the_unit(world: &World<'_>) {
    let bob = world.user("bob");
    world.deposit(100).unwrap();
    let refused = world.transaction(|tx| -> Result<(), Box<dyn std::error::Error>> {
        users::create(tx, world.provider, world.company, &profile("ann"), &world.context())?;
        carry_out(tx, world.provider, &world.command(&[bob]), &world.context())?;
        Err(StoreError::Broken("on purpose".into()).into())
    });
    assert!(refused.is_err());
    assert_eq!((count(world), world.reserve()), (2, 100));
    assert_eq!(world.bench.events(EventKind::RecognitionReceived), 0);
}

pub(super) fn a_verdict_rolls_back_the_unit(world: &World<'_>) {
    let rolled_back = world.bench.run(&mut |tx| {
        users::create(tx, world.provider, world.company, &profile("ann"), &world.context()).unwrap();
        Verdict::Rollback
    });
    rolled_back.unwrap();
    assert_eq!(count(world), 1);
}

pub(super) fn a_swallowed_failure_rolls_back_the_unit(world: &World<'_>) {
    let fate = world.bench.run(&mut |tx| {
        users::create(tx, world.provider, world.company, &profile("ann"), &world.context()).unwrap();
        let twice = [Account::Reserve(world.company)];
        assert!(tx.open(world.company, &twice, Timestamp::UNIX_EPOCH).is_err());
        assert!(tx.active_user_count(world.company).is_err(), "nothing is done after a failure");
        Verdict::Commit
    });
    // On a store with concurrent writers, an existing row is a lost race.
    assert!(matches!(fate, Err(StoreError::Broken(_) | StoreError::Busy)));
    assert_eq!(count(world), 1);
}

pub(super) fn a_lost_race_rolls_back_the_unit(world: &World<'_>) {
    let lost = world.transaction(|tx| {
        users::create(tx, world.provider, world.company, &profile("ann"), &world.context())?;
        Err::<(), CreateUserError>(tx.lost_race().into())
    });
    assert!(matches!(lost, Err(CreateUserError::Store(StoreError::Busy))));
    assert_eq!(count(world), 1);
}

pub(super) fn a_unit_reads_its_own_writes(world: &World<'_>) {
    let seen = world.transaction(|tx| {
        let ann = users::create(tx, world.provider, world.company, &profile("ann"), &world.context())?;
        Ok::<_, CreateUserError>((tx.wallets(ann.id)?.len(), tx.active_user_count(world.company)?))
    });
    assert_eq!(seen.unwrap(), (2, 2));
}
