//! Random sequences of operations on a store and on a model of it: after each operation, both must have the same
//! verdict, balances and counts.
//!
//! `MODEL_OPERATIONS` sets the number of operations on each database, and `MODEL_SEED` the seed.

#![expect(clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod execute;
mod reference;
mod transitions;

use guerdon_domain::commands::Refusal;
use guerdon_domain::ports::StoreError;
use guerdon_domain::values::{RedemptionId, UserId};
use guerdon_domain::wallets::{Account, WalletType};
use guerdon_persistence::testing::{
    TestDatabase, covers_postgres, covers_sqlite, create_postgres, create_sqlite,
};
use proptest::test_runner::{Config, RngSeed, TestRunner};
use proptest_state_machine::{ReferenceStateMachine, StateMachineTest};

use self::reference::{Model, Verdict, shown};
use self::transitions::Transitions;
use crate::support::LedgerFixture;

/// The number of operations on each database. An operation on PostgreSQL takes longer.
const OPERATIONS_ON_SQLITE: u32 = 8_000;
const OPERATIONS_ON_POSTGRES: u32 = 2_000;
/// The number of operations on one company.
const OPERATIONS_PER_COMPANY: u32 = 250;
const SEED: u64 = 29;
/// How often the whole ledger is verified.
const OPERATIONS_PER_AUDIT: usize = 50;

/// A store under test, and the ids of the model's objects.
struct Subject {
    fixture: LedgerFixture,
    users: Vec<UserId>,
    redemptions: Vec<RedemptionId>,
    operations: usize,
}

impl Subject {
    fn new(database: TestDatabase, rate: i128) -> Self {
        let fixture = LedgerFixture::with_rate(database, i64::try_from(rate).unwrap());
        let owner = fixture.owner;
        Self { fixture, users: vec![owner], redemptions: Vec::new(), operations: 0 }
    }

    /// Fails unless the store has the balances and the counts of the model.
    fn assert_equals(&mut self, model: &Model) {
        self.operations += 1;
        let company = self.fixture.company;
        let of_company = [
            ("reserve", Account::Reserve(company), model.reserve),
            ("funding", Account::Funding(company), model.funding),
            ("redeemed", Account::Redeemed(company), model.redeemed),
            ("rounding", Account::Rounding(company), model.rounding),
        ];
        let (found, wallets, company) = self.fixture.read_snapshot(|reads| {
            let balances: Result<Vec<i128>, StoreError> = of_company
                .iter()
                .map(|(_, account, _)| {
                    Ok(i128::from(reads.account_balance(*account)?.unwrap_or_default().nanodollars()))
                })
                .collect();
            let company = reads.find_company(self.fixture.provider, company)?;
            Ok((balances?, reads.list_wallets_of_users(&self.users)?, company))
        });
        for ((name, _, expected), found) in of_company.iter().zip(found) {
            assert_eq!(found, *expected, "{name}");
        }
        let rate = company.or_denied("id").unwrap().company.rate;
        assert_eq!(i128::from(rate.get()), model.rate);
        for (number, (user, wallets)) in model.users.iter().zip(wallets).enumerate() {
            for wallet in wallets {
                let kind = wallet_number(wallet.wallet_type);
                let found = [wallet.balance, wallet.spent].map(|amount| i128::from(amount.nanodollars()));
                assert_eq!(found, [user.balances[kind], user.spent[kind]], "user {number}, wallet {kind}");
                let points = i128::from(wallet.points_at(rate).get());
                assert_eq!(points, shown(model.rate, user.balances[kind]), "user {number}, wallet {kind}");
            }
        }
        if self.operations.is_multiple_of(OPERATIONS_PER_AUDIT) {
            let counted = self.fixture.database.count_each(&["recognitions", "events"]);
            let expected = [model.recognitions, model.events].map(|count| i64::try_from(count).unwrap());
            assert_eq!(counted, expected);
            assert_eq!(self.fixture.audit_ledger(), []);
        }
    }
}

fn wallet_number(wallet: WalletType) -> usize {
    match wallet {
        WalletType::User => reference::USER,
        WalletType::Peer => reference::PEER,
        WalletType::Manager => reference::MANAGER,
    }
}

/// The test on one kind of database.
struct ModelTest<const IS_EMBEDDED: bool>;

impl<const IS_EMBEDDED: bool> StateMachineTest for ModelTest<IS_EMBEDDED> {
    type SystemUnderTest = Subject;
    type Reference = Transitions;

    fn init_test(state: &Model) -> Subject {
        let database = if IS_EMBEDDED { create_sqlite() } else { create_postgres() };
        Subject::new(database, state.rate)
    }

    fn apply(mut subject: Subject, after: &Model, transition: reference::Transition) -> Subject {
        let verdict = subject.execute(&transition);
        // The model's verdict follows from its state after the operation: a refused operation changes nothing.
        assert_eq!(verdict, after.last_verdict, "{transition:?}");
        subject.assert_equals(after);
        subject
    }

    fn teardown(mut subject: Subject, state: Model) {
        subject.assert_equals(&state);
        assert_eq!(subject.fixture.audit_ledger(), []);
    }
}

/// Runs the operations on databases of one kind.
fn run_model<const IS_EMBEDDED: bool>() {
    let default_operations = if IS_EMBEDDED { OPERATIONS_ON_SQLITE } else { OPERATIONS_ON_POSTGRES };
    let operations =
        std::env::var("MODEL_OPERATIONS").map_or(default_operations, |text| text.parse().unwrap());
    let seed = std::env::var("MODEL_SEED").map_or(SEED, |text| text.parse().unwrap());
    let per_company = usize::try_from(OPERATIONS_PER_COMPANY).unwrap();
    let config = Config {
        cases: operations.div_ceil(OPERATIONS_PER_COMPANY),
        max_shrink_iters: 200,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(seed),
        ..Config::default()
    };
    let mut runner = TestRunner::new(config.clone());
    let strategy = Transitions::sequential_strategy(per_company..per_company + 1);
    let result = runner.run(&strategy, |(state, transitions, seen)| {
        ModelTest::<IS_EMBEDDED>::test_sequential(config.clone(), state, transitions, seen);
        Ok(())
    });
    result.unwrap_or_else(|failure| panic!("seed {seed}: {failure}"));
    println!("{operations} operations, seed {seed}");
}

#[test]
fn sqlite_behaves_like_the_model() {
    if covers_sqlite() {
        run_model::<true>();
    }
}

#[test]
fn postgres_behaves_like_the_model() {
    if covers_postgres() {
        run_model::<false>();
    }
}

/// The verdict on an operation. Panics if the store failed: this is not a refusal.
fn verdict_of<T>(result: Result<T, impl Into<Refusal>>) -> Verdict {
    match result.map_err(|refusal| refusal.into().into_failure()) {
        Ok(_) => Verdict::Done,
        Err(Err(_refusal)) => Verdict::Refused,
        Err(Ok(failure)) => panic!("{failure:?}"),
    }
}
