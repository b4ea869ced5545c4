//! The engine on the in-memory store: a batch has the same result as its commands one by one.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender as Telling, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use guerdon_domain::commands::{
    Command, CommandQueue as _, Done, Outcome, Refusal, Response, Submission, Surroundings,
};
use guerdon_domain::companies::{self, CreateCompany};
use guerdon_domain::decide::carry_out;
use guerdon_domain::distributions::{Recipients, RunDistribution};
use guerdon_domain::idempotency::{IdempotencyKey, Repeatable};
use guerdon_domain::journal::{Actor, By, Origin};
use guerdon_domain::memory::{CountedIds, Memory, PlainBodies, StillClock};
use guerdon_domain::money::{Amount, Points, PointsPerDollar, Sum};
use guerdon_domain::occasions::{self, OccasionText};
use guerdon_domain::overrides::ReplaceBalance;
use guerdon_domain::ports::{
    Context, Ids as _, LedgerAccess, ReadAccounts as _, StoreError, Timestamp, Verdict,
};
use guerdon_domain::providers::{self, CreateProvider};
use guerdon_domain::recognitions::{Receivers, SendRecognition, Sender};
use guerdon_domain::redemptions::{Redeem, Refund};
use guerdon_domain::reserve::{ChangeReserve, ReserveChange};
use guerdon_domain::users::{self, DeleteUser, Profile};
use guerdon_domain::values::{
    CompanyId, DomainName, EmailAddress, Line, Message, OccasionId, ProviderId, RedemptionId, UserId, WebUrl,
};
use guerdon_domain::wallets::{Account, WalletType};
use uuid::Uuid;

use super::batch;
use super::queue::Job;
use super::{Backend, BatchError, Engine, Locking};

/// Pseudo-random numbers from a seed (SplitMix64).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ (mixed >> 31)) % bound
    }

    fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        let length = u64::try_from(all.len()).unwrap();
        all[usize::try_from(self.below(length)).unwrap()]
    }
}

/// The in-memory store. A transaction that rolls back leaves it unchanged.
#[derive(Clone)]
struct InMemory(Arc<Memory>);

impl Backend for InMemory {
    const HAS_LOCKS: bool = false;

    fn transact(
        &self,
        _locking: Locking,
        _within: Duration,
        _changes_much: bool,
        work: &mut dyn FnMut(&mut dyn LedgerAccess) -> Verdict,
    ) -> Result<(), BatchError> {
        let done: Result<(), Option<StoreError>> = self
            .0
            .transaction(|unit| match work(unit) {
                Verdict::Commit => Ok(()),
                Verdict::Rollback => Err(Stopped(None)),
            })
            .map_err(|stopped: Stopped| stopped.0);
        match done {
            Ok(()) | Err(None) => Ok(()),
            Err(Some(cause)) => Err(BatchError::Failed(cause)),
        }
    }
}

/// Why a transaction was rolled back; `None` if the work asked for it.
struct Stopped(Option<StoreError>);

impl From<StoreError> for Stopped {
    fn from(cause: StoreError) -> Self {
        Self(Some(cause))
    }
}

/// A company at an awkward rate with a reserve alert, and a few users.
struct World {
    store: InMemory,
    ids: Arc<CountedIds>,
    provider: ProviderId,
    company: CompanyId,
    occasion: OccasionId,
    users: Vec<UserId>,
    redemptions: Vec<RedemptionId>,
}

fn sum(points: i64) -> Sum {
    Sum::Points(Points::new(points).unwrap())
}

impl World {
    fn new(random: &mut Random) -> Self {
        let (store, ids) = (Arc::<Memory>::default(), Arc::<CountedIds>::default());
        let clock = StillClock(Timestamp::UNIX_EPOCH);
        let origin = Origin { actor: Actor::Operator, reference: None, key: None };
        let context = Context { clock: &clock, ids: &*ids, bodies: &PlainBodies, origin };
        let provider = ProviderId::from_uuid(ids.next());
        let name = Line::parse("Acme").unwrap();
        let rate = PointsPerDollar::new(random.one_of(&[1, 6, 7, 50, 333, 10_000])).unwrap();
        let made = store.transaction(|tx| -> Result<_, Box<dyn std::error::Error>> {
            providers::create(tx, CreateProvider::local(provider, name.clone()), &context)?;
            let owner = (EmailAddress::parse("ada@example.com")?, Line::parse("Ada")?);
            let (domain, logo) =
                (DomainName::parse("example.com")?, WebUrl::parse("https://a.example/logo.png")?);
            let mut command = CreateCompany::named(domain, name.clone(), owner, logo);
            command.rate = rate;
            command.reserve_alert = Some(Points::new(25).ok_or("negative")?);
            let company = companies::create(tx, provider, &command, &context)?.company.id;
            companies::set_allow_zero_points(tx, company, true, &context)?;
            let deposit =
                ChangeReserve { company_id: company, change: ReserveChange::Deposit, sum: sum(100) };
            carry_out(tx, provider, &deposit, &context)?;
            let text = OccasionText {
                name: name.clone(),
                title: name.clone(),
                default_message: Message::parse("Thank you")?,
            };
            let occasion = occasions::create(tx, provider, company, &text, true, true, &context)?.id;
            let mut users = Vec::new();
            for number in 0..5 {
                let email = EmailAddress::parse(&format!("u{number}@example.com"))?;
                let mut profile = Profile::named(email, Line::parse("Grace")?, None);
                profile.last_name = Some(Line::parse("Hopper")?);
                profile.manager = number < 2;
                let user = users::create(tx, provider, company, &profile, &context)?.id;
                for wallet in if number < 2 { WalletType::ALL } else { &WalletType::ALL[..2] } {
                    let command = ReplaceBalance { user_id: user, wallet: *wallet, sum: sum(5) };
                    carry_out(tx, provider, &command, &context)?;
                }
                users.push(user);
            }
            let mut redemptions = Vec::new();
            for user_id in &users[..2] {
                let command = Redeem { user_id: *user_id, sum: sum(2) };
                redemptions.push(carry_out(tx, provider, &command, &context)?.0.id);
            }
            Ok((company, occasion, users, redemptions))
        });
        let (company, occasion, users, redemptions) = made.unwrap();
        Self { store: InMemory(store), ids, provider, company, occasion, users, redemptions }
    }

    /// A random command: mostly recognitions, some of them retried under a key, and a few of every other
    /// kind.
    fn command(&self, random: &mut Random) -> (Command, Option<Repeatable>) {
        if random.below(4) == 0 {
            return (self.other_command(random), None);
        }
        let sender = if random.below(2) == 0 {
            Sender::Company(self.company)
        } else {
            Sender::User(random.one_of(&self.users))
        };
        let mut receivers: Vec<String> = Vec::new();
        for _ in 0..=random.below(3) {
            let receiver = random.one_of(&self.users).to_string();
            if !receivers.contains(&receiver) {
                receivers.push(receiver);
            }
        }
        let command = SendRecognition {
            occasion_id: self.occasion,
            sender,
            receivers: Receivers::parse(&receivers.join(",")).unwrap(),
            points_per_receiver: i64::try_from(random.below(5)).unwrap(),
            message: None,
            share: true,
        };
        let key = random.below(30);
        let repeatable = (key < 6).then(|| Repeatable {
            key: IdempotencyKey { scope: self.provider.as_uuid(), key: key.to_string() },
            request_hash: vec![u8::try_from(random.below(2)).unwrap(); 32],
            kept: Duration::from_secs(60),
        });
        (Command::SendRecognition(command), repeatable)
    }

    fn other_command(&self, random: &mut Random) -> Command {
        let (company_id, user_id) = (self.company, random.one_of(&self.users));
        let wallet = random.one_of(WalletType::ALL);
        let sum = if random.below(4) == 0 {
            Sum::Dollars(Amount::from_nanodollars(i64::try_from(random.below(9)).unwrap() * 500_000_000))
        } else {
            sum(i64::try_from(random.below(30)).unwrap())
        };
        match random.below(12) {
            0 => Command::DeleteUser(DeleteUser(user_id)),
            1 | 2 => Command::Refund(Refund(random.one_of(&self.redemptions))),
            3 | 4 => Command::Redeem(Redeem { user_id, sum }),
            5 | 6 => Command::ReplaceBalance(ReplaceBalance { user_id, wallet, sum }),
            7 | 8 => {
                Command::ChangeReserve(ChangeReserve { company_id, change: ReserveChange::Deposit, sum })
            }
            9 => Command::ChangeReserve(ChangeReserve { company_id, change: ReserveChange::Withdrawal, sum }),
            number => {
                let users = self.users.iter().copied().filter(|_| random.below(2) == 0).collect();
                let recipients = if number == 10 { Recipients::All(users) } else { Recipients::Named(users) };
                let run = RunDistribution { company_id, wallet, sum, recipients, schedule: None };
                Command::RunDistribution(run)
            }
        }
    }

    fn submission(
        &self,
        (command, repeatable): (Command, Option<Repeatable>),
        tell: &Telling<String>,
    ) -> Submission {
        Submission {
            command,
            provider: self.provider,
            by: By { actor: Actor::Provider, reference: None, key: None },
            surroundings: Surroundings {
                clock: Arc::new(StillClock(Timestamp::UNIX_EPOCH)),
                ids: Arc::<CountedIds>::clone(&self.ids),
                bodies: Arc::new(PlainBodies),
            },
            repeatable,
            response: Box::new(Told { said: String::new(), tell: tell.clone() }),
        }
    }

    /// The balance of every account.
    fn holds(&self) -> BTreeMap<Account, Option<i64>> {
        let all = self
            .users
            .iter()
            .flat_map(|user| Account::of_user(*user))
            .chain(Account::of_company(self.company));
        let held = self.store.0.transaction(|tx| -> Result<_, StoreError> {
            all.map(|account| Ok((account, tx.balance(account)?.map(|balance| balance.nanodollars()))))
                .collect()
        });
        held.unwrap()
    }
}

/// Records outcomes without their ids, which depend on the number of decisions.
struct Told {
    said: String,
    tell: Telling<String>,
}

impl Response for Told {
    fn render(&mut self, done: &Done) -> Result<(u16, Vec<u8>), StoreError> {
        self.said = match done {
            Done::Sent(sent) => sent
                .iter()
                .map(|recognition| format!("{:?} to {}; ", recognition.points, recognition.receiver_id))
                .collect(),
            Done::Redeemed(_, wallet) => format!("Redeemed {wallet:?}"),
            Done::Refunded(_, wallet) => format!("Refunded {wallet:?}"),
            other => format!("{other:?}"),
        };
        Ok((201, self.said.clone().into_bytes()))
    }

    fn is_wanted(&self) -> bool {
        true
    }

    fn end(self: Box<Self>, outcome: Outcome) {
        let text = match outcome {
            Outcome::Done(_) => self.said,
            Outcome::Repeated(record) => format!("repeated {}", String::from_utf8(record.body).unwrap()),
            Outcome::Refused(Refusal::Store(cause)) => panic!("{cause}"),
            other => format!("{other:?}"),
        };
        self.tell.send(text).unwrap();
    }
}

/// Runs commands in batches of a size. Returns the outcomes and the balances.
fn run(seed: u64, commands: usize, batch_size: usize) -> (Vec<String>, BTreeMap<Account, Option<i64>>) {
    let mut random = Random(seed);
    let world = World::new(&mut random);
    let (tell, told) = channel();
    let all: Vec<_> = (0..commands).map(|_| world.command(&mut random)).collect();
    for some in all.chunks(batch_size) {
        let mut jobs: Vec<Job> =
            some.iter().map(|command| Job::new(world.submission(command.clone(), &tell))).collect();
        let (committed, fates) = batch::run(&world.store, &mut jobs, Locking::Skip);
        for (job, fate) in jobs.into_iter().zip(fates) {
            job.end(batch::outcome(&committed, fate).expect("an outcome"));
        }
    }
    drop(tell);
    (told.iter().collect(), world.holds())
}

#[test]
fn a_batch_does_what_its_commands_do_one_at_a_time() {
    let mut seen = BTreeMap::<String, usize>::new();
    for seed in 0..2_000 {
        let (one_by_one, held) = run(seed, 50, 1);
        let size = 2 + usize::try_from(seed % 31).unwrap();
        let (in_batches, held_after_batches) = run(seed, 50, size);
        assert_eq!(one_by_one, in_batches, "seed {seed}, batches of {size}");
        assert_eq!(held, held_after_batches, "seed {seed}, batches of {size}");
        assert_eq!(held.values().flatten().sum::<i64>(), 0, "seed {seed}: no money is made or lost");
        for said in one_by_one {
            let word: String = said.chars().take_while(|character| character.is_alphabetic()).collect();
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
        "Replaced",
        "Distributed",
    ] {
        assert!(seen.get(word).is_some_and(|count| *count > 100), "{word}: {seen:?}");
    }
}

#[test]
fn the_queue_carries_out_what_many_threads_submit() {
    let mut random = Random(7);
    let world = World::new(&mut random);
    let engine = Engine::start(world.store.clone(), 2, 0).unwrap();
    let (tell, told) = channel();
    let random = Mutex::new(random);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..50 {
                    let command = world.command(&mut random.lock().unwrap());
                    engine.submit(world.submission(command, &tell));
                }
            });
        }
    });
    drop((engine, tell));
    assert_eq!(told.iter().count(), 400);
    assert_eq!(world.holds().values().flatten().sum::<i64>(), 0);
}

/// Panics once, after its commit.
struct PanicsAfterCommit(InMemory, AtomicBool);

impl Backend for PanicsAfterCommit {
    const HAS_LOCKS: bool = false;

    fn transact(
        &self,
        locking: Locking,
        within: Duration,
        changes_much: bool,
        work: &mut dyn FnMut(&mut dyn LedgerAccess) -> Verdict,
    ) -> Result<(), BatchError> {
        self.0.transact(locking, within, changes_much, work)?;
        assert!(self.1.swap(true, Ordering::Relaxed), "after the commit");
        Ok(())
    }
}

#[test]
fn a_panic_after_the_commit_carries_out_nothing_twice() {
    let mut random = Random(5);
    let world = World::new(&mut random);
    let reserve = Account::Reserve(world.company);
    let shown = |world: &World| world.holds()[&reserve].unwrap();
    let before = shown(&world);
    let backend = PanicsAfterCommit(world.store.clone(), AtomicBool::new(false));
    let engine = Engine::start(backend, 1, 0).unwrap();
    let (tell, told) = channel();
    let deposit =
        || ChangeReserve { company_id: world.company, change: ReserveChange::Deposit, sum: sum(10_000) };
    engine.submit(world.submission((Command::ChangeReserve(deposit()), None), &tell));
    drop((engine, tell));
    assert_eq!(told.iter().count(), 0, "its outcome is unknown");
    let once = shown(&world) - before;
    assert!(once > 0);
    let engine = Engine::start(world.store.clone(), 1, 0).unwrap();
    let (tell, _told) = channel();
    engine.submit(world.submission((Command::ChangeReserve(deposit()), None), &tell));
    drop(engine);
    assert_eq!(shown(&world) - before, 2 * once);
}

/// If the client of a recognition has disconnected, no points move.
#[test]
fn a_response_that_nobody_wants_keeps_nothing() {
    struct Gone;
    impl Response for Gone {
        fn render(&mut self, _done: &Done) -> Result<(u16, Vec<u8>), StoreError> {
            Ok((201, Vec::new()))
        }

        fn is_wanted(&self) -> bool {
            false
        }

        fn end(self: Box<Self>, outcome: Outcome) {
            assert!(matches!(outcome, Outcome::Refused(Refusal::Store(StoreError::DeadlineExceeded))));
        }
    }
    let mut random = Random(3);
    let world = World::new(&mut random);
    let before = world.holds();
    let engine = Engine::start(world.store.clone(), 1, 0).unwrap();
    for _ in 0..20 {
        let (tell, _told) = channel();
        let wanted = world.submission(world.command(&mut random), &tell);
        let command = SendRecognition {
            occasion_id: world.occasion,
            sender: Sender::Company(world.company),
            receivers: Receivers::parse(&world.users[0].to_string()).unwrap(),
            points_per_receiver: 1,
            message: None,
            share: true,
        };
        let command = Command::SendRecognition(command);
        engine.submit(Submission { command, repeatable: None, response: Box::new(Gone), ..wanted });
    }
    drop(engine);
    assert_eq!(world.holds(), before);
    assert_ne!(world.provider.as_uuid(), Uuid::nil());
}
