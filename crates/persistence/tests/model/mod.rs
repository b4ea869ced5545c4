//! Random sequences of operations on a store and on a model of it: after each operation, both must have the same
//! verdict, balances and counts.
//!
//! `MODEL_OPERATIONS` sets the number of operations on each database, and `MODEL_SEED` the seed.

#![expect(clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod execute;
mod reference;
mod state;
mod transitions;

use guerdon_domain::commands::Refusal;
use guerdon_domain::money::PointsPerDollar;
use guerdon_domain::ports::StoreError;
use guerdon_domain::values::{ProviderId, RedemptionId, UserId};
use guerdon_domain::wallets::{Account, Wallet, WalletType};
use guerdon_persistence::testing::{
    TestDatabase, covers_postgres, covers_sqlite, create_postgres, create_sqlite,
};
use proptest::test_runner::{Config, RngSeed, TestRunner};
use proptest_state_machine::{ReferenceStateMachine, StateMachineTest};

use self::execute::KeyedRequest;
use self::reference::shown;
use self::state::{Model, Verdict};
use self::transitions::{Transition, Transitions};
use crate::size::create_users;
use crate::support::LedgerFixture;

/// The number of operations on each database.
const OPERATIONS: u32 = 10_000;
/// The number of operations on one company.
const OPERATIONS_PER_COMPANY: u32 = 250;
const SEED: u64 = 29;
/// How often the whole ledger is verified.
const OPERATIONS_PER_AUDIT: usize = 50;

/// A store under test, and the ids of the model's objects.
struct Subject {
    fixture: LedgerFixture,
    /// The provider to which the company does not belong.
    other_provider: ProviderId,
    users: Vec<UserId>,
    /// Users who only take part in distributions to all users.
    crowd: Vec<UserId>,
    redemptions: Vec<RedemptionId>,
    requests: Vec<KeyedRequest>,
    operations: usize,
}

impl Subject {
    fn new(database: TestDatabase, model: &Model) -> Self {
        let fixture = LedgerFixture::with_rate(database, i64::try_from(model.rate).unwrap());
        let crowd = if model.crowd > 0 { create_users(&fixture, model.crowd) } else { Vec::new() };
        Self {
            other_provider: fixture.create_provider(),
            users: vec![fixture.owner],
            crowd,
            redemptions: Vec::new(),
            requests: Vec::new(),
            operations: 0,
            fixture,
        }
    }

    /// Fails unless the store has the balances and the counts of the model.
    fn assert_equals(&mut self, model: &Model) {
        self.operations += 1;
        self.assert_company_equals(model);
        let with_wallets =
            |users: &[UserId]| self.fixture.read_snapshot(|reads| reads.list_wallets_of_users(users));
        for (number, (user, wallets)) in model.users.iter().zip(with_wallets(&self.users)).enumerate() {
            let has_wallet = [true, true, user.has_manager_wallet];
            assert_eq!(wallets.len(), has_wallet.iter().filter(|has| **has).count(), "user {number}");
            for wallet in wallets {
                let kind = wallet_number(wallet.wallet_type);
                assert_wallet_equals(
                    &wallet,
                    (user.balances[kind], user.spent[kind]),
                    model.rate,
                    &format!("user {number}"),
                );
            }
        }
        if self.operations.is_multiple_of(OPERATIONS_PER_AUDIT) {
            for wallet in with_wallets(&self.crowd).into_iter().flatten() {
                let kind = wallet_number(wallet.wallet_type);
                assert_wallet_equals(&wallet, (model.crowd_balances[kind], 0), model.rate, "crowd");
            }
            let counted = self.fixture.database.count_each(&["recognitions", "events"]);
            let expected = [model.recognitions, model.events].map(|count| i64::try_from(count).unwrap());
            assert_eq!(counted, expected);
            assert_eq!(self.fixture.audit_ledger(), []);
        }
    }

    fn assert_company_equals(&self, model: &Model) {
        let id = self.fixture.company;
        let accounts = [
            ("reserve", Account::Reserve(id), model.reserve),
            ("funding", Account::Funding(id), model.funding),
            ("redeemed", Account::Redeemed(id), model.redeemed),
            ("rounding", Account::Rounding(id), model.rounding),
            ("transit", Account::Transit(id), model.in_transit()),
        ];
        let (found, company, of_other) = self.fixture.read_snapshot(|reads| {
            let balances: Result<Vec<i128>, StoreError> = accounts
                .iter()
                .map(|(_, account, _)| {
                    Ok(i128::from(reads.account_balance(*account)?.unwrap_or_default().nanodollars()))
                })
                .collect();
            let company = reads.find_company(self.fixture.provider, id)?;
            Ok((balances?, company, reads.find_company(self.other_provider, id)?))
        });
        for ((name, _, expected), found) in accounts.iter().zip(found) {
            assert_eq!(found, *expected, "{name}");
        }
        let company = company.or_denied("id").unwrap().company;
        assert_eq!(i128::from(company.rate.get()), model.rate);
        assert_eq!(company.owner_id, self.users[model.owner]);
        assert!(of_other.or_denied("id").is_err(), "the other provider has access");
    }
}

/// Fails unless a wallet has a balance, and an amount that was spent, and shows the points of this balance.
fn assert_wallet_equals(wallet: &Wallet, expected: (i128, i128), rate: i128, owner: &str) {
    let found = [wallet.balance, wallet.spent].map(|amount| i128::from(amount.nanodollars()));
    assert_eq!(found, [expected.0, expected.1], "{owner}, {:?}", wallet.wallet_type);
    let points = wallet.points_at(PointsPerDollar::new(i64::try_from(rate).unwrap()).unwrap());
    assert_eq!(i128::from(points.get()), shown(rate, expected.0), "{owner}, {:?}", wallet.wallet_type);
}

fn wallet_number(wallet: WalletType) -> usize {
    match wallet {
        WalletType::User => state::USER,
        WalletType::Peer => state::PEER,
        WalletType::Manager => state::MANAGER,
    }
}

/// The test on one kind of database.
struct ModelTest<const IS_EMBEDDED: bool>;

impl<const IS_EMBEDDED: bool> StateMachineTest for ModelTest<IS_EMBEDDED> {
    type SystemUnderTest = Subject;
    type Reference = Transitions;

    fn init_test(state: &Model) -> Subject {
        let database = if IS_EMBEDDED { create_sqlite() } else { create_postgres() };
        Subject::new(database, state)
    }

    fn apply(mut subject: Subject, after: &Model, transition: Transition) -> Subject {
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
    let operations = std::env::var("MODEL_OPERATIONS").map_or(OPERATIONS, |text| text.parse().unwrap());
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
