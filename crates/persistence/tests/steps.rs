//! Large distributions, which are executed in several steps.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use guerdon_domain::commands::{BlockingCommandQueue, Command, CommandQueue, Outcome, Refusal, Submission};
use guerdon_domain::distributions::{DistributeError, Distribution};
use guerdon_domain::ports::{StoreError, StoreExt as _, UnfinishedDistributions};
use guerdon_domain::scheduler::{DistributionTurns, finish_distributions};
use guerdon_domain::values::JournalEntryId;
use guerdon_domain::wallets::{Account, WalletType};
use guerdon_persistence::testing::create_databases;

use crate::size::create_users;
use crate::support::{LedgerFixture, on_each_database};

const SEAL_TIMEOUT: Duration = Duration::from_secs(30);
/// With the owner of the company, enough receivers for three steps.
pub const USER_COUNT: usize = 2_500;
pub const POINTS_PER_RECEIVER: i64 = 3;

/// Starts a distribution to all users.
pub fn begin_distribution(fixture: &LedgerFixture) -> Result<Distribution, Refusal> {
    let recipients = fixture.all_recipients(WalletType::Peer);
    fixture.distribute_points(WalletType::Peer, POINTS_PER_RECEIVER, recipients)
}

/// Executes the next step only, as if the process ended afterwards.
pub fn one_step(fixture: &LedgerFixture) {
    let mut steps = 0;
    let stopped = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let turns = &mut DistributionTurns::default();
        finish_distributions(fixture.background.as_ref(), &fixture.command_queue(), turns, &mut |_| {
            steps += 1;
            std::panic::resume_unwind(Box::new("the process ends here"))
        })
    }));
    assert!(stopped.is_err() && steps == 1);
}

#[test]
fn a_distribution_in_steps_passes_the_audit_after_each_step_and_is_complete_at_the_end() {
    for database in create_databases() {
        // A rate at which a point is not a whole fraction of a dollar.
        let fixture = &LedgerFixture::with_rate(database, 7);
        let users = create_users(fixture, USER_COUNT);
        let everybody = i64::try_from(USER_COUNT).unwrap() + 1;
        fixture.deposit_points(3 * everybody);
        begin_distribution(fixture).unwrap();
        let begun_at = fixture.context().clock.now();
        let unfinished = fixture.read_snapshot(|reads| reads.unfinished_distributions());
        assert_eq!((unfinished.distributions.len(), unfinished.points), (1, 3 * everybody));
        assert_eq!(fixture.reserve_points(), 0, "the full amount is debited immediately");
        assert_eq!(fixture.wallet_points(WalletType::Peer, users[0]), Some((0, 0)));
        assert_eq!(fixture.audit_ledger(), []);
        assert!(matches!(
            begin_distribution(fixture),
            Err(Refusal::Distribute(DistributeError::InsufficientFunds { .. }))
        ));
        one_step(fixture);
        assert_eq!(fixture.audit_ledger(), [], "in progress");
        fixture.delete_user(users[USER_COUNT - 1]).unwrap();
        assert!(fixture.finish_distributions().is_empty());
        assert_eq!(
            fixture.read_snapshot(|reads| reads.unfinished_distributions()),
            UnfinishedDistributions::default()
        );
        assert_eq!(fixture.wallet_points(WalletType::Peer, users[0]), Some((3, 0)));
        assert_eq!(fixture.wallet_points(WalletType::Peer, users[USER_COUNT - 2]), Some((3, 0)));
        assert_eq!(fixture.wallet_points(WalletType::Peer, users[USER_COUNT - 1]), Some((0, 0)));
        let wallet = Account::Wallet(WalletType::Peer, users[0]);
        let entries = fixture.read_snapshot(|reads| reads.list_account_entries(wallet, 0, 10));
        assert!(
            entries.len() == 1 && entries[0].transaction.at > begun_at,
            "the entry has the time of its step"
        );
        assert_eq!(fixture.reserve_points(), 3, "the points of the deleted user");
        assert_eq!(fixture.database.count_rows("unfinished_distributions"), 0);
        assert_eq!(fixture.database.count_rows("distribution_steps"), 0);
        assert_eq!(fixture.audit_ledger(), []);
    }
}

/// A queue in which every step of one distribution exceeds the statement timeout.
struct SlowDistribution {
    entry_id: JournalEntryId,
    queue: Arc<dyn CommandQueue>,
}

impl CommandQueue for SlowDistribution {
    fn submit_command(&self, submission: Submission) {
        if !matches!(&submission.command, Command::ContinueDistribution(next) if next.0 == self.entry_id) {
            return self.queue.submit_command(submission);
        }
        let cause = StoreError::Unavailable("canceling statement due to statement timeout".to_owned());
        submission.outcome_receiver.receive_outcome(Outcome::Refused(cause.into()));
    }
}

#[test]
fn a_step_that_exceeds_its_time_delays_no_other_distribution() {
    on_each_database(|fixture| {
        create_users(fixture, USER_COUNT);
        fixture.deposit_points(100_000);
        begin_distribution(fixture).unwrap();
        begin_distribution(fixture).unwrap();
        let unfinished = || fixture.read_snapshot(|reads| reads.unfinished_distributions()).distributions;
        let (slow, _owner) = unfinished()[0];
        let queue = SlowDistribution { entry_id: slow, queue: Arc::clone(&fixture.commands) };
        let commands =
            BlockingCommandQueue { queue: Arc::new(queue), context_sources: fixture.context_sources() };
        let mut turns = DistributionTurns::default();
        let mut finish = || {
            let store = fixture.background.as_ref();
            finish_distributions(store, &commands, &mut turns, &mut |_| ControlFlow::Continue(())).unwrap()
        };
        let failed = finish();
        assert_eq!(failed.iter().map(|failure| failure.entry_id).collect::<Vec<_>>(), [slow]);
        assert_eq!(unfinished().iter().map(|(id, _owner)| *id).collect::<Vec<_>>(), [slow]);
        assert!(finish().is_empty(), "it is paused");
        assert!(fixture.finish_distributions().is_empty() && unfinished().is_empty());
    });
}

#[test]
fn distributions_take_turns() {
    on_each_database(|fixture| {
        create_users(fixture, USER_COUNT);
        fixture.deposit_points(100_000);
        begin_distribution(fixture).unwrap();
        begin_distribution(fixture).unwrap();
        begin_distribution(fixture).unwrap();
        let with_steps_left = |steps: i64| {
            fixture.database.count_rows(&format!(
                "(SELECT journal_entry_id FROM distribution_steps GROUP BY journal_entry_id HAVING count(*) = {steps}) \
                 AS unfinished"
            ))
        };
        assert_eq!(with_steps_left(3), 3);
        let mut turns = DistributionTurns::default();
        let mut pay_steps = |steps: usize| {
            let mut left = steps;
            let (store, commands) = (fixture.background.as_ref(), fixture.command_queue());
            let mut stop_at_last = |_| {
                left -= 1;
                if left > 0 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            };
            finish_distributions(store, &commands, &mut turns, &mut stop_at_last).unwrap();
        };
        pay_steps(2);
        assert_eq!([with_steps_left(3), with_steps_left(2)], [1, 2], "within a call");
        pay_steps(1);
        assert_eq!(with_steps_left(2), 3, "from one call to the next");
        for _call in 0..3 {
            pay_steps(1);
        }
        assert_eq!(with_steps_left(1), 3);
        assert!(fixture.finish_distributions().is_empty());
        assert_eq!(fixture.audit_ledger(), []);
    });
}

#[test]
fn a_seal_waits_for_an_unfinished_distribution() {
    on_each_database(|fixture| {
        create_users(fixture, USER_COUNT);
        fixture.deposit_points(10_000);
        begin_distribution(fixture).unwrap();
        one_step(fixture);
        fixture.deposit_points(1);
        let seal = || {
            let next = fixture.read_snapshot(|reads| {
                reads.next_seal(guerdon_domain::ports::Clock::now(&*fixture.clock), 1_000)
            });
            let Some(next) = next else { return 0 };
            fixture.store.transaction(|tx| tx.insert_seal(&next)).unwrap();
            next.journal_entries.count
        };
        // On PostgreSQL, a transaction of another test that is just beginning can delay the seals.
        let seal_until = |expected: i64| {
            let started = Instant::now();
            let mut sealed = 0;
            while sealed < expected && started.elapsed() < SEAL_TIMEOUT {
                sealed += seal();
            }
            assert_eq!(sealed, expected);
        };
        seal_until(fixture.database.count_rows("journal_entries") - 2);
        assert_eq!(seal(), 0);
        fixture.finish_distributions();
        seal_until(2);
        assert_eq!(fixture.audit_ledger(), []);
    });
}

#[test]
fn a_distribution_whose_steps_do_not_add_up_is_found() {
    let found = |tamper: &str| {
        let mut results = Vec::new();
        for database in create_databases() {
            let fixture = LedgerFixture::new(database);
            create_users(&fixture, USER_COUNT);
            fixture.deposit_points(10_000);
            begin_distribution(&fixture).unwrap();
            one_step(&fixture);
            fixture
                .database
                .execute_sql(&tamper.replace("NOBODY", "zeroblob(16)"), &tamper.replace("NOBODY", NIL_ID));
            results.push(!fixture.audit_ledger().is_empty());
        }
        assert!(results.iter().all(|result| *result == results[0]), "{tamper}: {results:?}");
        results[0]
    };
    assert!(!found("SELECT 1"));
    assert!(found("DELETE FROM distribution_steps WHERE leg > 2000"), "a step was lost");
    assert!(found("UPDATE unfinished_distributions SET unpaid_receivers = 1"), "an extra step");
    assert!(
        found("DELETE FROM distribution_steps; DELETE FROM unfinished_distributions"),
        "the distribution was forgotten"
    );
    assert!(
        found("INSERT INTO unfinished_distributions VALUES (NOBODY, 0)"),
        "the journal entry does not exist"
    );
    assert!(
        found("INSERT INTO unfinished_distributions SELECT id, 1 FROM journal_entries WHERE kind = 6"),
        "a deposit is not a distribution"
    );
}

/// An id that no row has, on PostgreSQL.
const NIL_ID: &str = "'00000000-0000-0000-0000-000000000000'";

#[test]
fn an_unfinishable_distribution_does_not_block_others() {
    for database in create_databases() {
        let fixture = LedgerFixture::new(database);
        create_users(&fixture, USER_COUNT);
        fixture.deposit_points(20_000);
        begin_distribution(&fixture).unwrap();
        let damage = |nobody: &str| format!("INSERT INTO unfinished_distributions VALUES ({nobody}, 0)");
        fixture.database.execute_sql(&damage("zeroblob(16)"), &damage(NIL_ID));
        let found: Vec<&str> = fixture.audit_ledger().iter().map(|violation| violation.invariant).collect();
        assert!(found.contains(&"in progress"), "{found:?}");
        let failed = fixture.finish_distributions();
        assert_eq!(failed.len(), 1, "{failed:?}");
        assert_eq!(
            fixture.database.count_rows("unfinished_distributions"),
            1,
            "the genuine distribution is finished"
        );
        let mut turns = DistributionTurns::default();
        let failures = |turns: &mut _| fixture.finish_unpaused_distributions(turns).len();
        assert_eq!([failures(&mut turns), failures(&mut turns)], [1, 0], "it is retried after a minute");
        fixture.clock.set_time(fixture.context().clock.now() + Duration::from_secs(61));
        assert_eq!(failures(&mut turns), 1);
    }
}
