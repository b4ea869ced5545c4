//! The unit of work: all or nothing.

use super::env::{TestEnv, user_profile};
use crate::decide::execute_command;
use crate::events::EventKind;
use crate::ports::{StoreError, Timestamp, Verdict};
use crate::users::{self, CreateUserError};
use crate::wallets::Account;

fn count_active_users(env: &TestEnv<'_>) -> i64 {
    env.with_tx(|tx| tx.count_active_users(env.company))
}

pub(super) fn an_error_rolls_back_the_unit(env: &TestEnv<'_>) {
    let bob = env.create_user("bob");
    env.deposit(100).unwrap();
    let refused = env.transaction(|tx| -> Result<(), Box<dyn std::error::Error>> {
        users::create(tx, env.provider, env.company, &user_profile("ann"), &env.context())?;
        execute_command(tx, env.provider, &env.recognition_command(&[bob]), &env.context())?;
        Err(StoreError::Broken("on purpose".into()).into())
    });
    assert!(refused.is_err());
    assert_eq!((count_active_users(env), env.reserve_points()), (2, 100));
    assert_eq!(env.store.count_events(EventKind::RecognitionReceived), 0);
}

pub(super) fn a_verdict_rolls_back_the_unit(env: &TestEnv<'_>) {
    let rolled_back = env.store.run_transaction(&mut |tx| {
        users::create(tx, env.provider, env.company, &user_profile("ann"), &env.context()).unwrap();
        Verdict::Rollback
    });
    rolled_back.unwrap();
    assert_eq!(count_active_users(env), 1);
}

pub(super) fn a_swallowed_failure_rolls_back_the_unit(env: &TestEnv<'_>) {
    let outcome = env.store.run_transaction(&mut |tx| {
        users::create(tx, env.provider, env.company, &user_profile("ann"), &env.context()).unwrap();
        let twice = [Account::Reserve(env.company)];
        assert!(tx.open_accounts(env.company, &twice, Timestamp::UNIX_EPOCH).is_err());
        assert!(tx.count_active_users(env.company).is_err(), "nothing is done after a failure");
        Verdict::Commit
    });
    assert!(matches!(outcome, Err(StoreError::Broken(_))));
    assert_eq!(count_active_users(env), 1);
}

pub(super) fn a_conflict_rolls_back_the_unit(env: &TestEnv<'_>) {
    let lost = env.transaction(|tx| {
        users::create(tx, env.provider, env.company, &user_profile("ann"), &env.context())?;
        Err::<(), CreateUserError>(tx.abort_for_retry().into())
    });
    assert!(matches!(lost, Err(CreateUserError::Store(StoreError::Busy))));
    assert_eq!(count_active_users(env), 1);
}

pub(super) fn a_unit_reads_its_own_writes(env: &TestEnv<'_>) {
    let seen = env.transaction(|tx| {
        let ann = users::create(tx, env.provider, env.company, &user_profile("ann"), &env.context())?;
        Ok::<_, CreateUserError>((tx.list_wallets(ann.id)?.len(), tx.count_active_users(env.company)?))
    });
    assert_eq!(seen.unwrap(), (2, 2));
}
