//! The engine on the in-memory store: a batch has the same result as its commands one by one.

mod lost_database;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender as OutcomeSender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use guerdon_domain::commands::{
    Command, CommandQueue as _, ContextSources, Done, Outcome, OutcomeReceiver, Refusal, Submission,
};
use guerdon_domain::companies::{self, CreateCompany};
use guerdon_domain::decide::execute_command;
use guerdon_domain::distributions::{Recipients, RunDistribution};
use guerdon_domain::idempotency::{IdempotencyKey, IdempotentRequest};
use guerdon_domain::journal::{Actor, Requester};
use guerdon_domain::memory::{FixedClock, MemoryStore, PlainBodies, SequentialIds};
use guerdon_domain::money::{Amount, Points, PointsPerDollar, Sum};
use guerdon_domain::occasions::{self, OccasionText};
use guerdon_domain::overrides::OverrideBalance;
use guerdon_domain::ports::{
    Context, IdGenerator as _, LedgerAccess, ReadAccounts as _, StoreError, Timestamp, Verdict,
};
use guerdon_domain::providers::{self, CreateProvider};
use guerdon_domain::recognitions::{Receivers, SendRecognition, Sender};
use guerdon_domain::redemptions::{Redeem, Refund};
use guerdon_domain::reserve::{ChangeReserve, ReserveDirection};
use guerdon_domain::users::{self, DeleteUser, Profile};
use guerdon_domain::values::{
    CompanyId, DomainName, EmailAddress, Message, OccasionId, ProviderId, RedemptionId, SingleLine, UserId,
    WebUrl,
};
use guerdon_domain::wallets::{Account, WalletType};
use guerdon_test_support::Random;
use uuid::Uuid;

use super::batch;
use super::job::Job;
use super::{Backend, BatchError, Engine, Locking};

/// The in-memory store. A transaction that rolls back leaves it unchanged.
#[derive(Clone)]
struct InMemory(Arc<MemoryStore>);

impl Backend for InMemory {
    fn run_transaction(
        &self,
        _locking: Locking,
        _within: Duration,
        _affected_count: usize,
        work: &mut dyn FnMut(&mut dyn LedgerAccess) -> Verdict,
    ) -> Result<(), BatchError> {
        let done: Result<(), Option<StoreError>> = self
            .0
            .transaction(|unit| match work(unit) {
                Verdict::Commit => Ok(()),
                Verdict::Rollback => Err(RolledBack(None)),
            })
            .map_err(|stopped: RolledBack| stopped.0);
        match done {
            Ok(()) | Err(None) => Ok(()),
            Err(Some(cause)) => Err(BatchError::Failed(cause)),
        }
    }
}

/// Why a transaction was rolled back; `None` if the work requested the rollback.
struct RolledBack(Option<StoreError>);

impl From<StoreError> for RolledBack {
    fn from(cause: StoreError) -> Self {
        Self(Some(cause))
    }
}

/// A company at an awkward rate with a reserve alert, and a few users.
struct EngineFixture {
    store: InMemory,
    ids: Arc<SequentialIds>,
    provider: ProviderId,
    company: CompanyId,
    occasion: OccasionId,
    users: Vec<UserId>,
    redemptions: Vec<RedemptionId>,
}

fn points_sum(points: i64) -> Sum {
    Sum::Points(Points::new(points).unwrap())
}

impl EngineFixture {
    fn new(random: &mut Random) -> Self {
        let (store, ids) = (Arc::<MemoryStore>::default(), Arc::<SequentialIds>::default());
        let clock = FixedClock(Timestamp::UNIX_EPOCH);
        let requester = &Requester::OPERATOR;
        let context = Context { clock: &clock, ids: &*ids, bodies: &PlainBodies, requester };
        let provider = ProviderId::from_uuid(ids.next_id());
        let name = SingleLine::parse("Acme").unwrap();
        let rate = PointsPerDollar::new(*random.one_of(&[1, 6, 7, 50, 333, 10_000])).unwrap();
        let created = store.transaction(|tx| -> Result<_, Box<dyn std::error::Error>> {
            providers::create(tx, CreateProvider::without_credentials(provider, name.clone()), &context)?;
            let owner = (EmailAddress::parse("ada@example.com")?, SingleLine::parse("Ada")?);
            let (domain, logo) =
                (DomainName::parse("example.com")?, WebUrl::parse("https://a.example/logo.png")?);
            let mut command = CreateCompany::with_defaults(domain, name.clone(), owner, logo);
            command.rate = rate;
            command.reserve_alert = Some(Points::new(25).ok_or("negative")?);
            let company = companies::create(tx, provider, &command, &context)?.company.id;
            companies::set_allow_zero_points(tx, company, true, &context)?;
            let deposit = ChangeReserve {
                company_id: company,
                direction: ReserveDirection::Deposit,
                sum: points_sum(100),
            };
            execute_command(tx, provider, &deposit, &context)?;
            let text = OccasionText {
                name: name.clone(),
                title: name.clone(),
                default_message: Message::parse("Thank you")?,
            };
            let occasion = occasions::create(tx, provider, company, &text, true, true, &context)?.id;
            let mut users = Vec::new();
            for number in 0..5 {
                let email = EmailAddress::parse(&format!("u{number}@example.com"))?;
                let mut profile = Profile::with_name(email, SingleLine::parse("Grace")?, None);
                profile.last_name = Some(SingleLine::parse("Hopper")?);
                profile.manager = number < 2;
                let user = users::create(tx, provider, company, &profile, &context)?.id;
                for wallet in if number < 2 { WalletType::ALL } else { &WalletType::ALL[..2] } {
                    let command = OverrideBalance { user_id: user, wallet: *wallet, sum: points_sum(5) };
                    execute_command(tx, provider, &command, &context)?;
                }
                users.push(user);
            }
            let mut redemptions = Vec::new();
            for user_id in &users[..2] {
                let command = Redeem { user_id: *user_id, sum: points_sum(2) };
                redemptions.push(execute_command(tx, provider, &command, &context)?.0.id);
            }
            Ok((company, occasion, users, redemptions))
        });
        let (company, occasion, users, redemptions) = created.unwrap();
        Self { store: InMemory(store), ids, provider, company, occasion, users, redemptions }
    }

    /// A random command: mostly recognitions, some of them retried under a key, and a few of every other
    /// kind.
    fn random_command(&self, random: &mut Random) -> (Command, Option<IdempotentRequest>) {
        if random.number_below(4) == 0 {
            return (self.random_other_command(random), None);
        }
        let sender = if random.number_below(2) == 0 {
            Sender::Company(self.company)
        } else {
            Sender::User(*random.one_of(&self.users))
        };
        let mut receivers: Vec<String> = Vec::new();
        for _ in 0..=random.number_below(3) {
            let receiver = random.one_of(&self.users).to_string();
            if !receivers.contains(&receiver) {
                receivers.push(receiver);
            }
        }
        let command = SendRecognition {
            occasion_id: self.occasion,
            sender,
            receivers: Receivers::parse(&receivers.join(",")).unwrap(),
            points_per_receiver: i64::try_from(random.number_below(5)).unwrap(),
            message: None,
            share: true,
        };
        let key = random.number_below(30);
        let repeatable = (key < 6).then(|| IdempotentRequest {
            key: IdempotencyKey { scope: self.provider.as_uuid(), key: key.to_string() },
            request_hash: vec![u8::try_from(random.number_below(2)).unwrap(); 32],
            retention: Duration::from_secs(60),
        });
        (Command::SendRecognition(command), repeatable)
    }

    fn random_other_command(&self, random: &mut Random) -> Command {
        let (company_id, user_id) = (self.company, *random.one_of(&self.users));
        let wallet = *random.one_of(WalletType::ALL);
        let sum = if random.number_below(4) == 0 {
            Sum::Dollars(Amount::from_nanodollars(
                i64::try_from(random.number_below(9)).unwrap() * 500_000_000,
            ))
        } else {
            points_sum(i64::try_from(random.number_below(30)).unwrap())
        };
        match random.number_below(12) {
            0 => Command::DeleteUser(DeleteUser(user_id)),
            1 | 2 => Command::Refund(Refund(*random.one_of(&self.redemptions))),
            3 | 4 => Command::Redeem(Redeem { user_id, sum }),
            5 | 6 => Command::OverrideBalance(OverrideBalance { user_id, wallet, sum }),
            7 | 8 => Command::ChangeReserve(ChangeReserve {
                company_id,
                direction: ReserveDirection::Deposit,
                sum,
            }),
            9 => Command::ChangeReserve(ChangeReserve {
                company_id,
                direction: ReserveDirection::Withdrawal,
                sum,
            }),
            number => {
                let users = self.users.iter().copied().filter(|_| random.number_below(2) == 0).collect();
                let recipients = if number == 10 { Recipients::All(users) } else { Recipients::Named(users) };
                let run = RunDistribution { company_id, wallet, sum, recipients, schedule: None };
                Command::RunDistribution(run)
            }
        }
    }

    fn new_submission(
        &self,
        (command, idempotent_request): (Command, Option<IdempotentRequest>),
        outcome_sender: &OutcomeSender<String>,
    ) -> Submission {
        Submission {
            command,
            provider: self.provider,
            requester: Requester { actor: Actor::Provider, reference: None, key: None },
            context_sources: ContextSources {
                clock: Arc::new(FixedClock(Timestamp::UNIX_EPOCH)),
                ids: Arc::<SequentialIds>::clone(&self.ids),
                bodies: Arc::new(PlainBodies),
            },
            idempotent_request,
            outcome_receiver: Box::new(OutcomeRecorder {
                text: String::new(),
                outcome_sender: outcome_sender.clone(),
            }),
        }
    }

    /// The balance of every account.
    fn account_balances(&self) -> BTreeMap<Account, Option<i64>> {
        let all = self
            .users
            .iter()
            .flat_map(|user| Account::user_wallets(*user))
            .chain(Account::company_accounts(self.company));
        let balances = self.store.0.transaction(|tx| -> Result<_, StoreError> {
            all.map(|account| {
                Ok((account, tx.account_balance(account)?.map(|balance| balance.nanodollars())))
            })
            .collect()
        });
        balances.unwrap()
    }
}

/// Records outcomes without their ids, which depend on the number of decisions.
struct OutcomeRecorder {
    text: String,
    outcome_sender: OutcomeSender<String>,
}

impl OutcomeReceiver for OutcomeRecorder {
    fn render_response(&mut self, done: &Done) -> Result<(u16, Vec<u8>), StoreError> {
        self.text = match done {
            Done::Sent(sent) => sent
                .iter()
                .map(|recognition| format!("{:?} to {}; ", recognition.points, recognition.receiver_id))
                .collect(),
            Done::Redeemed(_, wallet) => format!("Redeemed {wallet:?}"),
            Done::Refunded(_, wallet) => format!("Refunded {wallet:?}"),
            other => format!("{other:?}"),
        };
        Ok((201, self.text.clone().into_bytes()))
    }

    fn confirm_execution(&self) -> bool {
        true
    }

    fn receive_outcome(self: Box<Self>, outcome: Outcome) {
        let text = match outcome {
            Outcome::Done(_) => self.text,
            Outcome::AlreadyExecuted(record) => {
                format!("repeated {}", String::from_utf8(record.body).unwrap())
            }
            Outcome::Refused(Refusal::Store(cause)) => panic!("{cause}"),
            other => format!("{other:?}"),
        };
        self.outcome_sender.send(text).unwrap();
    }
}

/// Runs commands in batches of `batch_size`. Returns the outcomes and the balances.
fn run_in_batches(
    seed: u64,
    commands: usize,
    batch_size: usize,
) -> (Vec<String>, BTreeMap<Account, Option<i64>>) {
    let mut random = Random(seed);
    let fixture = EngineFixture::new(&mut random);
    let (outcome_sender, outcomes) = channel();
    let all: Vec<_> = (0..commands).map(|_| fixture.random_command(&mut random)).collect();
    for some in all.chunks(batch_size) {
        let mut jobs: Vec<Job> = some
            .iter()
            .map(|command| Job::new(fixture.new_submission(command.clone(), &outcome_sender)))
            .collect();
        let (committed, results) = batch::run_batch(&fixture.store, &mut jobs, Locking::Skip);
        for (job, result) in jobs.into_iter().zip(results) {
            job.complete_with(batch::final_outcome(&committed, result).expect("an outcome"));
        }
    }
    drop(outcome_sender);
    (outcomes.iter().collect(), fixture.account_balances())
}

#[test]
fn batches_equal_serial_execution() {
    let mut seen = BTreeMap::<String, usize>::new();
    for seed in 0..2_000 {
        let (one_by_one, balances) = run_in_batches(seed, 50, 1);
        let size = 2 + usize::try_from(seed % 31).unwrap();
        let (in_batches, balances_after_batches) = run_in_batches(seed, 50, size);
        assert_eq!(one_by_one, in_batches, "seed {seed}, batches of {size}");
        assert_eq!(balances, balances_after_batches, "seed {seed}, batches of {size}");
        assert_eq!(balances.values().flatten().sum::<i64>(), 0, "seed {seed}: no money is made or lost");
        for text in one_by_one {
            let word: String = text.chars().take_while(|character| character.is_alphabetic()).collect();
            *seen.entry(word).or_default() += 1;
        }
    }
    for word in [
        "Points",
        "Refused",
        "repeated",
        "KeyMisused",
        "Deleted",
        "Redeemed",
        "Refunded",
        "ReserveChanged",
        "BalanceOverridden",
        "Distributed",
    ] {
        assert!(seen.get(word).is_some_and(|count| *count > 100), "{word}: {seen:?}");
    }
}

#[test]
fn concurrent_submissions_are_all_executed() {
    let mut random = Random(7);
    let fixture = EngineFixture::new(&mut random);
    let engine = Engine::start_workers(fixture.store.clone(), 2, 0).unwrap();
    let (outcome_sender, outcomes) = channel();
    let random = Mutex::new(random);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..50 {
                    let command = fixture.random_command(&mut random.lock().unwrap());
                    engine.submit_command(fixture.new_submission(command, &outcome_sender));
                }
            });
        }
    });
    drop((engine, outcome_sender));
    assert_eq!(outcomes.iter().count(), 400);
    assert_eq!(fixture.account_balances().values().flatten().sum::<i64>(), 0);
}

/// Panics once, after its commit.
struct PanicsAfterCommit(InMemory, AtomicBool);

impl Backend for PanicsAfterCommit {
    fn run_transaction(
        &self,
        locking: Locking,
        time_limit: Duration,
        affected_count: usize,
        work: &mut dyn FnMut(&mut dyn LedgerAccess) -> Verdict,
    ) -> Result<(), BatchError> {
        self.0.run_transaction(locking, time_limit, affected_count, work)?;
        assert!(self.1.swap(true, Ordering::Relaxed), "after the commit");
        Ok(())
    }
}

#[test]
fn a_panic_after_the_commit_executes_nothing_twice() {
    let mut random = Random(5);
    let fixture = EngineFixture::new(&mut random);
    let reserve = Account::Reserve(fixture.company);
    let reserve_balance = |fixture: &EngineFixture| fixture.account_balances()[&reserve].unwrap();
    let before = reserve_balance(&fixture);
    let backend = PanicsAfterCommit(fixture.store.clone(), AtomicBool::new(false));
    let engine = Engine::start_workers(backend, 1, 0).unwrap();
    let (outcome_sender, outcomes) = channel();
    let deposit = || ChangeReserve {
        company_id: fixture.company,
        direction: ReserveDirection::Deposit,
        sum: points_sum(10_000),
    };
    engine.submit_command(fixture.new_submission((Command::ChangeReserve(deposit()), None), &outcome_sender));
    drop((engine, outcome_sender));
    assert_eq!(outcomes.iter().count(), 0, "its outcome is unknown");
    let once = reserve_balance(&fixture) - before;
    assert!(once > 0);
    let engine = Engine::start_workers(fixture.store.clone(), 1, 0).unwrap();
    let (outcome_sender, _outcomes) = channel();
    engine.submit_command(fixture.new_submission((Command::ChangeReserve(deposit()), None), &outcome_sender));
    drop(engine);
    assert_eq!(reserve_balance(&fixture) - before, 2 * once);
}

/// If the client of a recognition has already received a 503, no points move.
#[test]
fn a_request_that_timed_out_moves_no_points() {
    struct TimedOutRequest;
    impl OutcomeReceiver for TimedOutRequest {
        fn render_response(&mut self, _done: &Done) -> Result<(u16, Vec<u8>), StoreError> {
            Ok((201, Vec::new()))
        }

        fn confirm_execution(&self) -> bool {
            false
        }

        fn receive_outcome(self: Box<Self>, outcome: Outcome) {
            assert!(matches!(outcome, Outcome::Refused(Refusal::Store(StoreError::DeadlineExceeded))));
        }
    }
    let mut random = Random(3);
    let fixture = EngineFixture::new(&mut random);
    let before = fixture.account_balances();
    let engine = Engine::start_workers(fixture.store.clone(), 1, 0).unwrap();
    for _ in 0..20 {
        let (outcome_sender, _outcomes) = channel();
        let wanted = fixture.new_submission(fixture.random_command(&mut random), &outcome_sender);
        let command = SendRecognition {
            occasion_id: fixture.occasion,
            sender: Sender::Company(fixture.company),
            receivers: Receivers::parse(&fixture.users[0].to_string()).unwrap(),
            points_per_receiver: 1,
            message: None,
            share: true,
        };
        let command = Command::SendRecognition(command);
        engine.submit_command(Submission {
            command,
            idempotent_request: None,
            outcome_receiver: Box::new(TimedOutRequest),
            ..wanted
        });
    }
    drop(engine);
    assert_eq!(fixture.account_balances(), before);
    assert_ne!(fixture.provider.as_uuid(), Uuid::nil());
}
