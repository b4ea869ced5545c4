//! The fixture of the database tests: a provider, a company, its users and one occasion, with a deterministic clock and
//! deterministic ids.

pub mod recorded_statements;

use std::num::NonZero;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Barrier, LazyLock};
use std::time::Duration;

use guerdon_domain::audit::{self, AuditOptions, Unpaced, Violation};
use guerdon_domain::audit_log::Action;
use guerdon_domain::commands::{BlockingCommandQueue, Command, CommandQueue, ContextSources, Done, Refusal};
use guerdon_domain::companies::{self, CompanyWithOwner, CreateCompany, UpdateCompany, UpdateCompanyError};
use guerdon_domain::distributions::{Distribution, Recipients, RunDistribution};
use guerdon_domain::events::{Event, EventFacts};
use guerdon_domain::journal::Requester;
use guerdon_domain::money::{Points, PointsPerDollar, Sum};
use guerdon_domain::occasions::{self, OccasionText};
use guerdon_domain::overrides::OverrideBalance;
use guerdon_domain::ports::{
    Clock, Context, EventBodies, IdGenerator, ReadTx, RenderError, Store, StoreError, StoreExt as _,
    Timestamp,
};
use guerdon_domain::providers::Provider;
use guerdon_domain::recognitions::{Receivers, Recognition, SendError, SendRecognition, Sender};
use guerdon_domain::redemptions::{Redeem, Redemption, Refund};
use guerdon_domain::reserve::{self, ChangeReserve, ReserveDirection};
use guerdon_domain::scheduler::{self, DistributionTurns, FailedDistribution};
use guerdon_domain::users::{self, DeleteUser, Profile};
use guerdon_domain::values::{
    CompanyId, DomainName, EmailAddress, Message, OccasionId, ProviderId, RedemptionId, SingleLine, UserId,
    WebUrl,
};
use guerdon_domain::wallets::WalletType;
use guerdon_persistence::OpenDatabase;
use guerdon_persistence::testing::{
    TestDatabase, create_databases, create_postgres, create_sqlite, postgres_if_covered,
};
use uuid::Uuid;

/// A clock that advances by one microsecond per call.
pub struct TestClock(AtomicI64);

impl Clock for TestClock {
    fn now(&self) -> Timestamp {
        let micros = self.0.fetch_add(1, Ordering::Relaxed);
        Timestamp::from_unix_micros(micros).unwrap()
    }
}

impl TestClock {
    /// Sets the clock to another time.
    pub fn set_time(&self, to: Timestamp) {
        let micros = to.unix_micros();
        self.0.store(micros, Ordering::Relaxed);
    }
}

/// Sequential ids: 1, 2, 3, …
pub struct TestIds(AtomicU64);

impl IdGenerator for TestIds {
    fn next_id(&self) -> Uuid {
        Uuid::from_u64_pair(0x0193_0000_0000_7000, self.0.fetch_add(1, Ordering::Relaxed))
    }
}

/// The requester in these tests.
pub static REQUESTER: LazyLock<Requester> =
    LazyLock::new(|| Requester { reference: Some("tester".to_owned()), ..Requester::OPERATOR });

pub struct TestBodies;

/// Separates the facts in an erased body from the note on the erased fields.
const ERASURE_MARK: &str = " without ";

impl EventBodies for TestBodies {
    fn render_event(&self, event: &Event<'_>) -> Result<Vec<u8>, RenderError> {
        Ok(event.facts().to_string().into_bytes())
    }

    fn parse_facts(&self, body: &[u8]) -> Option<EventFacts> {
        let text = std::str::from_utf8(body).ok()?;
        EventFacts::parse(text.split_once(ERASURE_MARK).map_or(text, |(before, _)| before))
    }

    fn erase_user(&self, body: &[u8], user: UserId, email: &EmailAddress) -> Result<Vec<u8>, RenderError> {
        let erased = format!("{ERASURE_MARK}{user}, now {}", email.as_str());
        Ok([body, erased.as_bytes()].concat())
    }
}

/// The time at which the clock of a fixture starts, in microseconds.
const CLOCK_START: i64 = 1_795_000_000_000_000;

/// The ids with which another process can open the database of a fixture.
#[derive(Debug, Clone, Copy)]
pub struct FixtureIds {
    pub provider: ProviderId,
    pub company: CompanyId,
    pub owner: UserId,
    pub occasion: OccasionId,
}

pub struct LedgerFixture {
    pub database: TestDatabase,
    pub store: Arc<dyn Store>,
    pub commands: Arc<dyn CommandQueue>,
    pub background: Arc<dyn Store>,
    pub clock: Arc<TestClock>,
    pub ids: Arc<TestIds>,
    pub provider: ProviderId,
    pub company: CompanyId,
    pub owner: UserId,
    pub occasion: OccasionId,
}

/// Runs a test on every database of this run.
pub fn on_each_database(test: impl Fn(&LedgerFixture)) {
    for database in create_databases() {
        test_and_audit(LedgerFixture::new(database), &test);
    }
}

/// Runs a test on every database of this run, and again on PostgreSQL with the form of writes that Citus needs.
pub fn with_each_write_form(test: impl Fn(&LedgerFixture)) {
    on_each_database(&test);
    if let Some(database) = postgres_if_covered() {
        let mut fixture = LedgerFixture::new(database);
        // Closes the stores that were opened first: the check for deadlocks waits for the end of all sessions.
        OpenDatabase {
            requests: fixture.store,
            commands: fixture.commands,
            background: fixture.background,
            ..
        } = fixture.database.open_with_statement_per_table();
        test_and_audit(fixture, &test);
    }
}

/// Runs a test on PostgreSQL.
pub fn on_postgres(test: impl Fn(&LedgerFixture)) {
    if let Some(database) = postgres_if_covered() {
        test_and_audit(LedgerFixture::new(database), &test);
    }
}

fn test_and_audit(fixture: LedgerFixture, test: &impl Fn(&LedgerFixture)) {
    test(&fixture);
    assert_eq!(fixture.audit_ledger(), [], "on {}", fixture.database.url);
    assert_eq!(fixture.close().count_deadlocks(), 0, "deadlocks despite retries");
}

/// Creates a database of either kind.
pub fn create_database(is_embedded: bool) -> TestDatabase {
    if is_embedded { create_sqlite() } else { create_postgres() }
}

/// Runs `work(client)` concurrently on that many threads.
pub fn run_concurrently(clients: usize, work: impl Fn(usize) + Sync) {
    let barrier = Barrier::new(clients);
    std::thread::scope(|scope| {
        for client in 0..clients {
            let (barrier, work) = (&barrier, &work);
            scope.spawn(move || {
                barrier.wait();
                work(client);
            });
        }
    });
}

pub fn points_sum(count: i64) -> Sum {
    Sum::Points(Points::new(count).unwrap())
}

impl LedgerFixture {
    pub fn new(database: TestDatabase) -> Self {
        Self::with_rate(database, 50)
    }

    pub fn with_rate(database: TestDatabase, rate: i64) -> Self {
        let OpenDatabase { requests: store, commands, background, .. } = database.open_for_service();
        let clock = Arc::new(TestClock(AtomicI64::new(CLOCK_START)));
        let ids = Arc::new(TestIds(AtomicU64::new(1)));
        let provider = ProviderId::from_uuid(ids.next_id());
        let context = Context { clock: &*clock, ids: &*ids, bodies: &TestBodies, requester: &REQUESTER };
        let (company, owner, occasion) = store
            .transaction(|tx| -> Result<_, Box<dyn std::error::Error + Send + Sync>> {
                tx.insert_provider(&sample_provider(provider, clock.now()))?;
                tx.record_audit_entry(
                    &context.new_audit_entry(Action::ProviderCreated).with_provider(provider),
                )?;
                let company = companies::create(tx, provider, &sample_company(rate), &context)?.company;
                let text = OccasionText {
                    name: SingleLine::parse("Great job").unwrap(),
                    title: SingleLine::parse("You did a great job").unwrap(),
                    default_message: Message::parse("Thank you").unwrap(),
                };
                let occasion = occasions::create(tx, provider, company.id, &text, true, true, &context)?;
                Ok((company.id, company.owner_id, occasion.id))
            })
            .unwrap();
        Self { database, store, commands, background, clock, ids, provider, company, owner, occasion }
    }

    /// Opens a database that another process has filled. Each generation of processes has its own ids and times.
    pub fn reopen(database: TestDatabase, ids: &FixtureIds, generation: u32) -> Self {
        let OpenDatabase { requests: store, commands, background, .. } = database.open_for_service();
        let clock = TestClock(AtomicI64::new(CLOCK_START + i64::from(generation) * 1_000_000_000));
        let generated = TestIds(AtomicU64::new(1 + u64::from(generation) * 1_000_000));
        let FixtureIds { provider, company, owner, occasion } = *ids;
        let (clock, ids) = (Arc::new(clock), Arc::new(generated));
        Self { database, store, commands, background, clock, ids, provider, company, owner, occasion }
    }

    /// Closes all connections, so that another process can open the database, or the database can be copied.
    pub fn close(self) -> TestDatabase {
        let Self { database, store, commands, background, .. } = self;
        drop((store, commands, background));
        database
    }

    pub fn fixture_ids(&self) -> FixtureIds {
        let Self { provider, company, owner, occasion, .. } = *self;
        FixtureIds { provider, company, owner, occasion }
    }

    pub fn context(&self) -> Context<'_> {
        Context { clock: &*self.clock, ids: &*self.ids, bodies: &TestBodies, requester: &REQUESTER }
    }

    /// Creates another provider.
    pub fn create_provider(&self) -> ProviderId {
        let provider = sample_provider(ProviderId::from_uuid(self.ids.next_id()), self.clock.now());
        let entry = self.context().new_audit_entry(Action::ProviderCreated).with_provider(provider.id);
        self.store
            .transaction(|tx| tx.insert_provider(&provider).and_then(|()| tx.record_audit_entry(&entry)))
            .unwrap();
        provider.id
    }

    pub fn create_user(&self, name: &str) -> UserId {
        self.create_user_with(name, |_| ())
    }

    pub fn create_user_with(&self, name: &str, change: impl FnOnce(&mut Profile)) -> UserId {
        let email = EmailAddress::parse(&format!("{name}@example.com")).unwrap();
        let mut profile = Profile::with_name(
            email,
            SingleLine::parse(name).unwrap(),
            Some(SingleLine::parse("Doe").unwrap()),
        );
        change(&mut profile);
        let create = |tx: &mut dyn guerdon_domain::ports::Tx| {
            users::create(tx, self.provider, self.company, &profile, &self.context())
        };
        self.store.transaction(create).unwrap().id
    }

    pub fn deposit_points(&self, points: i64) {
        self.try_deposit(points).unwrap();
    }

    /// Returns the points in the reserve afterwards.
    pub fn try_deposit(&self, points: i64) -> Result<i64, Refusal> {
        let (direction, sum) = (ReserveDirection::Deposit, points_sum(points));
        let command = ChangeReserve { company_id: self.company, direction, sum };
        match self.execute_command(Command::ChangeReserve(command))? {
            Done::ReserveChanged(changed) => Ok(changed.after.get()),
            other => Err(StoreError::Broken(format!("{other:?}")).into()),
        }
    }

    pub fn redeem_points(&self, user_id: UserId, points: i64) -> Result<Redemption, Refusal> {
        match self.execute_command(Command::Redeem(Redeem { user_id, sum: points_sum(points) }))? {
            Done::Redeemed(redemption, _) => Ok(redemption),
            other => Err(StoreError::Broken(format!("{other:?}")).into()),
        }
    }

    /// Returns the points at the current rate.
    pub fn refund_redemption(&self, id: RedemptionId) -> Result<i64, Refusal> {
        match self.execute_command(Command::Refund(Refund(id)))? {
            Done::Refunded(_, wallet) => Ok(wallet.points.get()),
            other => Err(StoreError::Broken(format!("{other:?}")).into()),
        }
    }

    /// Overrides the points of a wallet.
    pub fn override_balance(&self, user_id: UserId, wallet: WalletType, points: i64) -> Result<(), Refusal> {
        let command = OverrideBalance { user_id, wallet, sum: points_sum(points) };
        self.execute_command(Command::OverrideBalance(command)).map(drop)
    }

    pub fn distribute_points(
        &self,
        wallet: WalletType,
        points: i64,
        recipients: Recipients,
    ) -> Result<Distribution, Refusal> {
        let (company_id, sum) = (self.company, points_sum(points));
        let command = RunDistribution { company_id, wallet, sum, recipients, schedule: None };
        match self.execute_command(Command::RunDistribution(command))? {
            Done::Distributed(distribution) => Ok(distribution),
            other => Err(StoreError::Broken(format!("{other:?}")).into()),
        }
    }

    /// All active users or managers of the company.
    pub fn all_recipients(&self, wallet: WalletType) -> Recipients {
        self.read_snapshot(|reads| Recipients::all_active(reads, self.company, wallet))
    }

    pub fn command_queue(&self) -> BlockingCommandQueue {
        BlockingCommandQueue { queue: Arc::clone(&self.commands), context_sources: self.context_sources() }
    }

    /// Submits a command and waits for its outcome.
    pub fn execute_command(&self, command: Command) -> Result<Done, Refusal> {
        self.command_queue().execute_command(self.provider, &REQUESTER, command)
    }

    /// Finishes the distributions that are executed in several steps.
    pub fn finish_distributions(&self) -> Vec<FailedDistribution> {
        self.finish_unpaused_distributions(&mut DistributionTurns::default())
    }

    /// Finishes those distributions that are not paused.
    pub fn finish_unpaused_distributions(&self, turns: &mut DistributionTurns) -> Vec<FailedDistribution> {
        scheduler::finish_distributions(self.background.as_ref(), &self.command_queue(), turns, &mut |_| {
            ControlFlow::Continue(())
        })
        .unwrap()
    }

    /// Adds points to a user's wallet.
    pub fn fund_wallet(&self, wallet: WalletType, user: UserId, points: i64) {
        self.deposit_points(points);
        self.distribute_points(wallet, points, Recipients::Named(vec![user])).unwrap();
    }

    pub fn send_command(&self, sender: Sender, to: &[UserId], points: i64) -> SendRecognition {
        let ids: Vec<String> = to.iter().map(ToString::to_string).collect();
        SendRecognition {
            occasion_id: self.occasion,
            sender,
            receivers: Receivers::parse(&ids.join(",")).unwrap(),
            points_per_receiver: points,
            message: None,
            share: true,
        }
    }

    pub fn send_recognition(
        &self,
        sender: Sender,
        to: &[UserId],
        points: i64,
    ) -> Result<Vec<Recognition>, SendError> {
        match self.execute_command(Command::SendRecognition(self.send_command(sender, to, points))) {
            Ok(Done::Sent(sent)) => Ok(sent),
            Err(Refusal::Send(refusal)) => Err(refusal),
            Err(Refusal::Store(cause)) => Err(cause.into()),
            other => Err(StoreError::Broken(format!("{other:?}")).into()),
        }
    }

    pub fn context_sources(&self) -> ContextSources {
        ContextSources {
            clock: Arc::<TestClock>::clone(&self.clock),
            ids: Arc::<TestIds>::clone(&self.ids),
            bodies: Arc::new(TestBodies),
        }
    }

    pub fn delete_user(&self, user: UserId) -> Result<(), users::DeleteUserError> {
        match self.execute_command(Command::DeleteUser(DeleteUser(user))) {
            Ok(_) => Ok(()),
            Err(Refusal::DeleteUser(refusal)) => Err(refusal),
            Err(refusal) => Err(refusal.into_failure().unwrap().into()),
        }
    }

    pub fn current_rate(&self) -> PointsPerDollar {
        let found = self.read_snapshot(|reads| reads.find_company(self.provider, self.company));
        found.or_denied("id").unwrap().company.rate
    }

    pub fn change_rate(&self, rate: PointsPerDollar) {
        let update = UpdateCompany { rate: Some(rate), ..UpdateCompany::default() };
        self.update_company(&update).unwrap();
    }

    pub fn update_company(&self, update: &UpdateCompany) -> Result<CompanyWithOwner, UpdateCompanyError> {
        self.store
            .transaction(|tx| companies::update(tx, self.provider, self.company, update, &self.context()))
    }

    /// The points of a wallet, and the points spent from it.
    pub fn wallet_points(&self, wallet: WalletType, user: UserId) -> Option<(i64, i64)> {
        let rate = self.current_rate();
        let wallets = self.read_snapshot(|reads| reads.list_wallets(user));
        let found = wallets.iter().find(|row| row.wallet_type == wallet)?;
        Some((found.points_at(rate).get(), found.points_spent(rate).get()))
    }

    pub fn reserve_points(&self) -> i64 {
        self.store.read_snapshot(|reads| reserve::read_balance(reads, self.company)).unwrap().get()
    }

    pub fn audit_ledger(&self) -> Vec<Violation> {
        self.audit_with(None)
    }

    /// Like `audit_ledger`, but also reports if the chain of seals does not contain this head.
    pub fn audit_with(&self, head: Option<[u8; 32]>) -> Vec<Violation> {
        verify_at(self.store.as_ref(), head, self.clock.now(), NonZero::<usize>::MIN)
    }

    /// Seals all committed entries and returns the head of the chain.
    pub fn seal_all(&self) -> [u8; 32] {
        let now = self.clock.now();
        let end = self.read_snapshot(|reads| reads.ledger_end());
        while self.read_snapshot(|reads| reads.has_unsealed_rows_before(end)) {
            // Tests of other databases on the same server can delay a seal briefly.
            if let Some(next) = self.read_snapshot(|reads| reads.next_seal(now, 3)) {
                assert!(self.store.transaction(|tx| tx.insert_seal(&next)).unwrap());
            }
        }
        self.read_snapshot(|reads| reads.last_seal()).unwrap().head
    }

    pub fn read_snapshot<T>(&self, read: impl FnMut(&mut dyn ReadTx) -> Result<T, StoreError>) -> T {
        self.store.read_snapshot(read).unwrap()
    }
}

/// The violations that an audit of all rows at this time reports.
pub fn verify_at(
    store: &dyn Store,
    head: Option<[u8; 32]>,
    now: Timestamp,
    threads: NonZero<usize>,
) -> Vec<Violation> {
    audit::verify_rows(store, &audit_options(head, now), threads).unwrap().violations
}

/// The options of an audit at this time.
pub fn audit_options(head: Option<[u8; 32]>, now: Timestamp) -> AuditOptions<'static> {
    AuditOptions {
        head,
        bodies: &TestBodies,
        now,
        next_attempt_wait_max: Duration::from_secs(3 * 86_400),
        statement_duration_max: None,
        pacer: &Unpaced,
    }
}

fn sample_provider(id: ProviderId, created_at: Timestamp) -> Provider {
    Provider {
        id,
        name: "Sample".into(),
        api_key: format!("key-{id}"),
        api_secret_hash: vec![1; 32],
        encrypted_shared_secret: vec![2; 32],
        former_api_secret: None,
        former_shared_secret: None,
        callback_url: Some("https://sample.example.com/hook".into()),
        manages_all_domain_resources: true,
        suspended: false,
        created_at,
    }
}

pub fn sample_company(rate: i64) -> CreateCompany {
    let line = |text: &str| SingleLine::parse(text).unwrap();
    CreateCompany {
        owner_last_name: Some(line("Owner")),
        rate: PointsPerDollar::new(rate).unwrap(),
        ..CreateCompany::with_defaults(
            DomainName::parse("example.com").unwrap(),
            line("Example"),
            (EmailAddress::parse("owner@example.com").unwrap(), line("Olive")),
            WebUrl::parse("https://example.com/logo.png").unwrap(),
        )
    }
}
