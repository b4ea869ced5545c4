//! Runs concurrent processes against a database and records their history.
//!
//! Each process is a thread with its own sequence of pseudo-random numbers. On PostgreSQL the processes use two stores,
//! as two instances of the service do.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use guerdon_domain::commands::{BlockingCommandQueue, Command, Done, Outcome, Refusal};
use guerdon_domain::distributions::DistributeError;
use guerdon_domain::distributions::{Recipients, RunDistribution};
use guerdon_domain::idempotency::{IdempotencyKey, IdempotentRequest};
use guerdon_domain::ports::{ClaimRequest, ReadTx, Store, StoreError, StoreExt as _};
use guerdon_domain::recognitions::{SendError, Sender};
use guerdon_domain::redemptions::{Redeem, RedeemError, Refund};
use guerdon_domain::reserve::{ChangeReserve, ReserveDirection, ReserveError};
use guerdon_domain::values::{RedemptionId, UserId};
use guerdon_domain::wallets::{Account, WalletType};
use guerdon_persistence::OpenDatabase;
use guerdon_test_support::Random;
use uuid::Uuid;

use super::record::{AccountIndex, End, History, Moment, Operation, OperationResult, Request};
use crate::support::{LedgerFixture, REQUESTER, points_sum};

/// The processes. Two of them read snapshots, two claim events, and the others move points and read balances.
const PROCESSES: usize = 16;
const USERS: usize = 6;
/// Users that only receive, all at once: more than a fast worker accepts in one command, so a patient worker executes
/// it. In a history, their wallets are one account.
const CROWD: usize = 17;
/// The points of a deposit at the start.
const INITIAL_POINTS: i64 = 2_000;
/// Leases do not end during a history.
const LEASE: Duration = Duration::from_secs(86_400);

/// Returns the generator of a process.
fn random_of_process(seed: u64, number: usize) -> Random {
    Random(seed ^ u64::try_from(number).unwrap().wrapping_mul(0xA076_1D64_78BD_642F))
}

/// An account of a history.
#[derive(Clone, Copy)]
enum HistoryAccount {
    Single(Account),
    /// The wallets of the crowd.
    Crowd,
}

/// The database and the accounts of a history.
pub struct Driver<'f> {
    fixture: &'f LedgerFixture,
    /// A second instance on PostgreSQL, which every other process uses.
    second: Option<OpenDatabase>,
    users: Vec<UserId>,
    crowd: Vec<UserId>,
    accounts: Vec<(String, HistoryAccount)>,
    next_index: AtomicUsize,
    next_key: AtomicU64,
    start: Instant,
}

impl<'f> Driver<'f> {
    pub fn new(fixture: &'f LedgerFixture) -> Self {
        let create = |name: String| fixture.create_user(&name);
        let users: Vec<UserId> = (0..USERS).map(|number| create(format!("u{number}"))).collect();
        let crowd: Vec<UserId> = (0..CROWD).map(|number| create(format!("c{number}"))).collect();
        let company = fixture.company;
        let mut accounts = vec![
            ("funding".to_owned(), HistoryAccount::Single(Account::Funding(company))),
            ("redeemed".to_owned(), HistoryAccount::Single(Account::Redeemed(company))),
            ("reserve".to_owned(), HistoryAccount::Single(Account::Reserve(company))),
            ("crowd".to_owned(), HistoryAccount::Crowd),
        ];
        for (number, user) in users.iter().enumerate() {
            let wallet = |wallet| HistoryAccount::Single(Account::Wallet(wallet, *user));
            accounts.push((format!("u{number}.peer"), wallet(WalletType::Peer)));
            accounts.push((format!("u{number}.user"), wallet(WalletType::User)));
        }
        let second = (!fixture.database.is_embedded()).then(|| fixture.database.open_for_service());
        let (next_index, next_key, start) = (AtomicUsize::new(0), AtomicU64::new(0), Instant::now());
        Self { fixture, second, users, crowd, accounts, next_index, next_key, start }
    }

    /// Runs about this many operations. `start_fault` is called after the initial deposit and
    /// distributions.
    pub fn run(&self, operations: usize, seed: u64, start_fault: &dyn Fn()) -> History {
        let mut setup = Process::new(self, PROCESSES, seed);
        setup.deposit_points(INITIAL_POINTS);
        for user in 0..USERS {
            setup.distribute_points(user, WalletType::Peer, 200);
        }
        start_fault();
        let each = operations / PROCESSES;
        let mut all = std::thread::scope(|scope| {
            let run = |number| scope.spawn(move || Process::new(self, number, seed).run(each));
            let processes: Vec<_> = (0..PROCESSES).map(run).collect();
            processes.into_iter().flat_map(|process| process.join().unwrap()).collect::<Vec<_>>()
        });
        all.append(&mut setup.operations);
        History {
            accounts: self.accounts.iter().map(|(name, _)| name.clone()).collect(),
            outside: vec![0, 1],
            operations: all,
        }
    }

    /// Adds the operations that end a history, when no other operation is in progress.
    pub fn finish(&self, history: &mut History) {
        let mut process = Process::new(self, PROCESSES, 0);
        process.read_snapshot();
        while process.claim_events() > 0 {}
        process.count_entries();
        history.operations.append(&mut process.operations);
    }

    /// The balance in points: at the rate of the fixture, every amount in a history is a whole number of points.
    fn balance_points(&self, reads: &mut dyn ReadTx, account: HistoryAccount) -> Result<i64, StoreError> {
        const NANODOLLARS_PER_POINT: i64 = 20_000_000;
        let nanodollars = match account {
            HistoryAccount::Single(account) => {
                reads.account_balance(account)?.unwrap_or_default().nanodollars()
            }
            HistoryAccount::Crowd => {
                let wallets = reads.list_wallets_of_users(&self.crowd)?;
                wallets.iter().flatten().map(|wallet| wallet.balance.nanodollars()).sum()
            }
        };
        Ok(nanodollars / NANODOLLARS_PER_POINT)
    }

    fn moment(&self) -> Moment {
        Moment { index: self.next_index.fetch_add(1, Ordering::SeqCst), time: self.start.elapsed() }
    }
}

struct Process<'d> {
    driver: &'d Driver<'d>,
    number: usize,
    random: Random,
    queue: BlockingCommandQueue,
    store: &'d dyn Store,
    operations: Vec<Operation>,
    /// The id of the redemption of the last command.
    last_redemption: Option<RedemptionId>,
    /// Redemptions that were not refunded, each with the user's number and the points.
    refundable: Vec<(RedemptionId, usize, i64)>,
}

/// Whether a rule refused a command because of a balance. Every other refusal is a defect.
fn is_insufficient(refusal: &Refusal) -> bool {
    matches!(
        refusal,
        Refusal::Send(SendError::InsufficientFunds)
            | Refusal::Redeem(RedeemError::InsufficientFunds(_))
            | Refusal::Reserve(ReserveError::InsufficientFunds(_))
            | Refusal::Distribute(DistributeError::InsufficientFunds { .. })
    )
}

impl<'d> Process<'d> {
    fn new(driver: &'d Driver<'d>, number: usize, seed: u64) -> Self {
        let queue = driver.fixture.command_queue();
        let second = driver.second.as_ref().filter(|_| number % 2 == 1);
        let store = second.map_or(driver.fixture.store.as_ref(), |second| second.requests.as_ref());
        let queue = match second {
            Some(second) => BlockingCommandQueue { queue: second.commands.clone(), ..queue },
            None => queue,
        };
        let random = random_of_process(seed, number);
        let (operations, refundable) = (Vec::new(), Vec::new());
        Self { driver, number, random, queue, store, operations, last_redemption: None, refundable }
    }

    fn run(mut self, operations: usize) -> Vec<Operation> {
        for _ in 0..operations {
            match self.number {
                0 | 1 => self.read_snapshot(),
                2 | 3 => drop(self.claim_events()),
                _ => self.move_or_read(),
            }
        }
        self.operations
    }

    fn account_index(&self, name: &str) -> AccountIndex {
        self.driver.accounts.iter().position(|(other, _)| other == name).unwrap()
    }

    fn move_or_read(&mut self) {
        let user = self.random.index_below(USERS);
        let count = i64::try_from(1 + self.random.index_below(9)).unwrap();
        match self.random.index_below(40) {
            0..3 => self.deposit_points(4 * count),
            3..6 => self.withdraw_points(count),
            6..9 => self.distribute_points(user, WalletType::Peer, count),
            9..15 => self.redeem_points(user, count),
            15..21 => self.send_points(None, user, count),
            21..30 => self.send_points(Some((user + 1) % USERS), user, count),
            30 => self.send_to_crowd(),
            31..34 => self.refund_redemption(),
            _ => self.read_balance(),
        }
    }

    /// Records an operation that moves points. Half of these operations have a key, and some operations with a key are
    /// retried.
    fn record_move(&mut self, command: &Command, changes: Vec<(AccountIndex, i64)>) {
        let key = (self.random.index_below(2) == 0)
            .then(|| format!("k{}", self.driver.next_key.fetch_add(1, Ordering::Relaxed)));
        let is_cancelled = key.is_none() && self.random.index_below(20) == 0;
        let requests = if key.is_some() { 1 + self.random.index_below(2) } else { 1 };
        for _ in 0..requests {
            let request = Request::Move { changes: changes.clone(), key: key.clone() };
            let invoked = self.driver.moment();
            let end = self.execute(command.clone(), key.as_deref(), is_cancelled);
            self.push(invoked, request, end);
        }
        // A client that reads after its own write must see the write, so half of the moves are followed by a read.
        if self.random.index_below(2) == 0 {
            self.read_account(changes.first().unwrap().0);
        }
    }

    fn push(&mut self, invoked: Moment, request: Request, end: End) {
        let completed = self.driver.moment();
        self.operations.push(Operation { process: self.number, invoked, completed, request, end });
    }

    fn execute(&mut self, command: Command, key: Option<&str>, is_cancelled: bool) -> End {
        let fixture = self.driver.fixture;
        let request = key.map(|key| IdempotentRequest {
            key: IdempotencyKey { scope: fixture.provider.as_uuid(), key: key.to_owned() },
            request_hash: vec![7; 32],
            retention: Duration::from_secs(30 * 86_400),
        });
        let render = Box::new(move |done: &Done| {
            if is_cancelled {
                return Err(StoreError::DeadlineExceeded); // as if the client had disconnected
            }
            Ok((201, format!("{done:?}").into_bytes()))
        });
        match self.queue.submit_and_wait(fixture.provider, REQUESTER.clone(), command, request, render) {
            Outcome::Done(done) => {
                if let Done::Redeemed(redemption, _) = &done {
                    self.last_redemption = Some(redemption.id);
                }
                End::Ok(OperationResult::Moved(format!("{done:?}")))
            }
            Outcome::AlreadyExecuted(record) => {
                End::Ok(OperationResult::Moved(String::from_utf8(record.body).unwrap()))
            }
            Outcome::Refused(Refusal::Store(StoreError::DeadlineExceeded)) if is_cancelled => End::Cancelled,
            Outcome::Refused(refusal) if is_insufficient(&refusal) => End::Refused,
            Outcome::Refused(refusal) => match refusal.into_failure() {
                Ok(_failure) => End::Unknown,
                // The checker cannot explain this refusal, unless a balance happens to be low.
                Err(_other_rule) => End::Refused,
            },
            Outcome::KeyInUse | Outcome::KeyMisused => End::Unknown,
        }
    }

    fn deposit_points(&mut self, count: i64) {
        self.change_reserve(ReserveDirection::Deposit, count, ("funding", "reserve"));
    }

    fn withdraw_points(&mut self, count: i64) {
        self.change_reserve(ReserveDirection::Withdrawal, count, ("reserve", "funding"));
    }

    fn change_reserve(&mut self, direction: ReserveDirection, count: i64, (from, to): (&str, &str)) {
        let command =
            ChangeReserve { company_id: self.driver.fixture.company, direction, sum: points_sum(count) };
        let changes = vec![(self.account_index(from), -count), (self.account_index(to), count)];
        self.record_move(&Command::ChangeReserve(command), changes);
    }

    fn distribute_points(&mut self, user: usize, wallet: WalletType, count: i64) {
        let recipients = Recipients::Named(vec![self.driver.users[user]]);
        let (company_id, sum) = (self.driver.fixture.company, points_sum(count));
        let command = RunDistribution { company_id, wallet, sum, recipients, schedule: None };
        let changes = vec![
            (self.account_index("reserve"), -count),
            (self.account_index(&format!("u{user}.peer")), count),
        ];
        self.record_move(&Command::RunDistribution(command), changes);
    }

    fn redeem_points(&mut self, user: usize, count: i64) {
        let command = Redeem { user_id: self.driver.users[user], sum: points_sum(count) };
        let changes = vec![
            (self.account_index(&format!("u{user}.user")), -count),
            (self.account_index("redeemed"), count),
        ];
        self.record_move(&Command::Redeem(command), changes);
        let id = self.last_redemption.take();
        self.refundable.extend(id.map(|id| (id, user, count)));
    }

    /// Refunds a redemption of this process, at most once.
    fn refund_redemption(&mut self) {
        if let Some((id, user, count)) = self.refundable.pop() {
            let user = self.account_index(&format!("u{user}.user"));
            let changes = vec![(self.account_index("redeemed"), -count), (user, count)];
            self.record_move(&Command::Refund(Refund(id)), changes);
        }
    }

    /// Sends a point from the reserve to each user of the crowd.
    fn send_to_crowd(&mut self) {
        let driver = self.driver;
        let company = Sender::Company(driver.fixture.company);
        let command = driver.fixture.send_command(company, &driver.crowd, 1);
        let points = i64::try_from(CROWD).unwrap();
        let changes = vec![(self.account_index("reserve"), -points), (self.account_index("crowd"), points)];
        self.record_move(&Command::SendRecognition(command), changes);
    }

    /// Sends points from a peer wallet or the reserve to one to three users.
    fn send_points(&mut self, from: Option<usize>, first: usize, count: i64) {
        let receivers: Vec<usize> = (0..1 + self.random.index_below(3))
            .map(|step| (first + step) % USERS)
            .filter(|receiver| Some(*receiver) != from)
            .collect();
        let (sender, payer) = match from {
            Some(user) => (Sender::User(self.driver.users[user]), format!("u{user}.peer")),
            None => (Sender::Company(self.driver.fixture.company), "reserve".to_owned()),
        };
        let ids: Vec<UserId> = receivers.iter().map(|receiver| self.driver.users[*receiver]).collect();
        let command = Command::SendRecognition(self.driver.fixture.send_command(sender, &ids, count));
        let total = count * i64::try_from(ids.len()).unwrap();
        let credits = receivers.iter().map(|user| (self.account_index(&format!("u{user}.user")), count));
        let changes = [(self.account_index(&payer), -total)].into_iter().chain(credits).collect();
        self.record_move(&command, changes);
    }

    fn read_balance(&mut self) {
        let account = self.random.index_below(self.driver.accounts.len());
        self.read_account(account);
    }

    fn read_account(&mut self, index: AccountIndex) {
        let account = self.driver.accounts[index].1;
        let invoked = self.driver.moment();
        let read = self.store.read_snapshot(|reads| self.driver.balance_points(reads, account));
        let end = read.map_or(End::Unknown, |balance| End::Ok(OperationResult::Balance(balance)));
        self.push(invoked, Request::Read { account: index }, end);
    }

    fn read_snapshot(&mut self) {
        let invoked = self.driver.moment();
        let read = self.store.read_snapshot(|reads| {
            self.driver
                .accounts
                .iter()
                .map(|(_, account)| self.driver.balance_points(reads, *account))
                .collect()
        });
        let end =
            read.map_or(End::Unknown, |balances: Vec<i64>| End::Ok(OperationResult::Balances(balances)));
        self.push(invoked, Request::Snapshot, end);
    }

    /// Claims due events and returns their number.
    fn claim_events(&mut self) -> usize {
        let fixture = self.driver.fixture;
        let now = fixture.context().clock.now();
        let claim = ClaimRequest {
            provider: fixture.provider,
            limit: 20,
            now,
            lease_until: now + LEASE,
            lease: Uuid::from_u64_pair(9, self.driver.next_key.fetch_add(1, Ordering::Relaxed)),
        };
        let invoked = self.driver.moment();
        let claimed = self.store.transaction(|tx| tx.claim_events(&claim));
        let end = claimed.map_or(End::Unknown, |batch| {
            let events = batch.into_iter().flat_map(|batch| batch.events);
            End::Ok(OperationResult::Claimed(events.map(|event| event.id.to_string()).collect()))
        });
        let count = if let End::Ok(OperationResult::Claimed(events)) = &end { events.len() } else { 0 };
        self.push(invoked, Request::Claim, end);
        count
    }

    fn count_entries(&mut self) {
        let invoked = self.driver.moment();
        // Kinds below 4 do not move points.
        let count = self.driver.fixture.database.count_rows("journal_entries WHERE kind >= 4");
        self.push(invoked, Request::Count, End::Ok(OperationResult::Counted(count)));
    }
}
