//! The data of a test case: a provider, a company, its owner, one occasion, and a clock that advances by a
//! microsecond on each read.

use std::sync::atomic::{AtomicI64, Ordering};

use uuid::Uuid;

use super::StoreUnderTest;
use crate::companies::{self, CompanyWithOwner, CreateCompany, UpdateCompany, UpdateCompanyError};
use crate::decide::{Decide, execute_command};
use crate::events::{Event, EventFacts};
use crate::journal::Requester;
use crate::money::{Points, PointsPerDollar, Sum};
use crate::occasions::{self, Occasion, OccasionText};
use crate::overrides::{OverrideBalance, OverrideError};
use crate::ports::{
    Clock, Context, EventBodies, IdGenerator, LedgerTx, RenderError, StoreError, Timestamp, Verdict,
};
use crate::providers::{self, CreateProvider};
use crate::recognitions::{Receivers, Recognition, SendError, SendRecognition, Sender};
use crate::reserve::{self, ChangeReserve, ReserveDirection, ReserveError};
use crate::users::{self, DeleteUser, DeleteUserError, Profile, User};
use crate::values::{
    CompanyId, DomainName, EmailAddress, Message, OccasionId, Page, ProviderId, SingleLine, UserId, WebUrl,
};
use crate::wallets::WalletType;

/// Predictable time, ids and bodies.
struct TestSources {
    now_micros: AtomicI64,
    next_id: AtomicI64,
}

impl Clock for TestSources {
    fn now(&self) -> Timestamp {
        let micros = self.now_micros.fetch_add(1, Ordering::Relaxed);
        Timestamp::from_unix_micros(micros).expect("a time")
    }
}

impl IdGenerator for TestSources {
    fn next_id(&self) -> Uuid {
        let number = self.next_id.fetch_add(1, Ordering::Relaxed);
        Uuid::from_u64_pair(0x0193_0000_0000_7000, u64::try_from(number).expect("a number"))
    }
}

impl EventBodies for TestSources {
    fn render_event(&self, event: &Event<'_>) -> Result<Vec<u8>, RenderError> {
        Ok(event.facts().to_string().into_bytes())
    }

    fn parse_facts(&self, body: &[u8]) -> Option<EventFacts> {
        EventFacts::parse(std::str::from_utf8(body).ok()?)
    }

    fn erase_user(&self, body: &[u8], _: UserId, _: &EmailAddress) -> Result<Vec<u8>, RenderError> {
        Ok(body.to_vec())
    }
}

pub(super) struct TestEnv<'a> {
    pub(super) store: &'a dyn StoreUnderTest,
    sources: TestSources,
    requester: Requester,
    pub(super) provider: ProviderId,
    pub(super) company: CompanyId,
    pub(super) owner: UserId,
    pub(super) occasion: OccasionId,
}

pub(super) fn points(count: i64) -> Points {
    Points::new(count).expect("points")
}

pub(super) fn line(text: &str) -> SingleLine {
    SingleLine::parse(text).expect("a line")
}

pub(super) fn email(text: &str) -> EmailAddress {
    EmailAddress::parse(text).expect("an address")
}

pub(super) fn page(number: i64, per_page: i64) -> Page {
    Page::new(number, per_page).expect("a page")
}

pub(super) fn occasion_text(name: &str) -> OccasionText {
    let default_message = Message::parse("Thank you").expect("a message");
    OccasionText { name: line(name), title: line(name), default_message }
}

/// The profile of a user with a name.
pub(super) fn user_profile(name: &str) -> Profile {
    Profile::with_name(email(&format!("{name}@example.com")), line(name), Some(line("Doe")))
}

/// A new company with a domain, at fifty points per dollar.
pub(super) fn company_command(domain: &str) -> CreateCompany {
    let domain = DomainName::parse(domain).expect("a domain");
    let logo = WebUrl::parse("https://example.com/logo.png").expect("a URL");
    let owner = (email("owner@example.com"), line("Olive"));
    let owner_last_name = Some(line("Owner"));
    CreateCompany { owner_last_name, ..CreateCompany::with_defaults(domain, line("Example"), owner, logo) }
}

impl<'a> TestEnv<'a> {
    pub(super) fn new(store: &'a dyn StoreUnderTest) -> Self {
        let sources =
            TestSources { now_micros: AtomicI64::new(1_795_000_000_000_000), next_id: AtomicI64::new(1) };
        let provider = ProviderId::from_uuid(Uuid::nil());
        let company_id = CompanyId::from_uuid(Uuid::nil());
        let (owner, occasion) = (UserId::from_uuid(Uuid::nil()), OccasionId::from_uuid(Uuid::nil()));
        let requester = Requester { reference: Some("tester".to_owned()), ..Requester::OPERATOR };
        let mut env = Self { store, sources, requester, provider, company: company_id, owner, occasion };
        env.provider = env.create_provider();
        let created = env.create_company(env.provider, &company_command("example.com")).company;
        (env.company, env.owner) = (created.id, created.owner_id);
        env.occasion = env.create_occasion(env.company, "Great job").id;
        env
    }

    pub(super) fn context(&self) -> Context<'_> {
        let sources = &self.sources;
        Context { clock: sources, ids: sources, bodies: sources, requester: &self.requester }
    }

    pub(super) fn new_uuid(&self) -> Uuid {
        self.sources.next_id()
    }

    /// Runs one unit of work: `Ok` commits, `Err` rolls back.
    pub(super) fn transaction<T, E: From<StoreError>>(
        &self,
        mut work: impl FnMut(&mut dyn LedgerTx) -> Result<T, E>,
    ) -> Result<T, E> {
        let mut outcome = None;
        self.store.run_transaction(&mut |tx| {
            let result = work(tx);
            let verdict = if result.is_ok() { Verdict::Commit } else { Verdict::Rollback };
            outcome = Some(result);
            verdict
        })?;
        outcome.expect("an outcome")
    }

    /// Runs a unit of work that cannot fail.
    pub(super) fn with_tx<T>(&self, work: impl FnMut(&mut dyn LedgerTx) -> Result<T, StoreError>) -> T {
        self.transaction(work).expect("success")
    }

    /// Creates another provider.
    pub(super) fn create_provider(&self) -> ProviderId {
        let id = ProviderId::from_uuid(self.new_uuid());
        let create = |tx: &mut dyn LedgerTx| {
            let callback_url = Some("https://sample.example.com/hook".into());
            let new =
                CreateProvider { callback_url, ..CreateProvider::without_credentials(id, line("Sample")) };
            providers::create(tx, new, &self.context())
        };
        self.with_tx(create).id
    }

    pub(super) fn create_company(&self, provider: ProviderId, new: &CreateCompany) -> CompanyWithOwner {
        self.transaction(|tx| companies::create(tx, provider, new, &self.context())).expect("a company")
    }

    /// Creates a company of another provider, with its occasion and its owner.
    pub(super) fn create_foreign_company(&self) -> (ProviderId, CompanyWithOwner, Occasion) {
        let provider = self.create_provider();
        let created = self.create_company(provider, &company_command("foreign.example.com"));
        let create = |tx: &mut dyn LedgerTx| {
            occasions::create(
                tx,
                provider,
                created.company.id,
                &occasion_text("Theirs"),
                true,
                true,
                &self.context(),
            )
        };
        let occasion = self.transaction(create).expect("an occasion");
        (provider, created, occasion)
    }

    pub(super) fn create_occasion(&self, company: CompanyId, name: &str) -> Occasion {
        let create = |tx: &mut dyn LedgerTx| {
            occasions::create(tx, self.provider, company, &occasion_text(name), true, true, &self.context())
        };
        self.transaction(create).expect("an occasion")
    }

    pub(super) fn find_company(&self) -> CompanyWithOwner {
        self.with_tx(|tx| tx.find_company(self.provider, self.company)).or_denied("id").expect("the company")
    }

    pub(super) fn update_company(
        &self,
        update: &UpdateCompany,
    ) -> Result<CompanyWithOwner, UpdateCompanyError> {
        self.transaction(|tx| companies::update(tx, self.provider, self.company, update, &self.context()))
    }

    pub(super) fn set_rate(&self, rate: i64) {
        let rate = PointsPerDollar::new(rate);
        self.update_company(&UpdateCompany { rate, ..UpdateCompany::default() }).expect("a new rate");
    }

    pub(super) fn create_user(&self, name: &str) -> UserId {
        self.create_user_from(&user_profile(name)).id
    }

    /// Creates a user with this profile.
    pub(super) fn create_user_from(&self, profile: &Profile) -> User {
        let create =
            |tx: &mut dyn LedgerTx| users::create(tx, self.provider, self.company, profile, &self.context());
        self.transaction(create).expect("a user")
    }

    pub(super) fn delete_user(&self, user: UserId) -> Result<(), DeleteUserError> {
        self.execute_command(&DeleteUser(user))
    }

    /// Executes a command that moves points, in a separate transaction.
    pub(super) fn execute_command<C: Decide>(&self, command: &C) -> Result<C::Done, C::Refusal> {
        self.transaction(|tx| execute_command(tx, self.provider, command, &self.context()))
    }

    pub(super) fn deposit_to(&self, company_id: CompanyId, count: i64) -> Result<i64, ReserveError> {
        let sum = Sum::Points(points(count));
        let done =
            self.execute_command(&ChangeReserve { company_id, direction: ReserveDirection::Deposit, sum })?;
        Ok(done.after.get())
    }

    pub(super) fn deposit(&self, count: i64) -> Result<i64, ReserveError> {
        self.deposit_to(self.company, count)
    }

    pub(super) fn reserve_points(&self) -> i64 {
        self.transaction(|tx| reserve::read_balance(tx, self.company)).expect("the reserve").get()
    }

    /// Makes a wallet show these points. The reserve pays the difference.
    pub(super) fn set_balance(
        &self,
        wallet: WalletType,
        user: UserId,
        count: i64,
    ) -> Result<(), OverrideError> {
        let sum = Sum::Points(points(count));
        self.execute_command(&OverrideBalance { user_id: user, wallet, sum }).map(drop)
    }

    /// Makes a wallet show these points, after depositing them to the reserve.
    pub(super) fn fund_wallet(&self, wallet: WalletType, user: UserId, count: i64) {
        self.deposit(count).expect("a deposit");
        self.set_balance(wallet, user, count).expect("funds");
    }

    /// The points that a wallet shows, and the spent points.
    pub(super) fn wallet_points(&self, wallet: WalletType, user: UserId) -> Option<(i64, i64)> {
        let rate = self.find_company().company.rate;
        let wallets = self.with_tx(|tx| tx.list_wallets(user));
        let found = wallets.iter().find(|candidate| candidate.wallet_type == wallet)?;
        Some((found.points_at(rate).get(), found.points_spent(rate).get()))
    }

    /// The command by which the company sends a recognition of ten points for its single occasion.
    pub(super) fn recognition_command(&self, to: &[UserId]) -> SendRecognition {
        let ids: Vec<String> = to.iter().map(ToString::to_string).collect();
        SendRecognition {
            occasion_id: self.occasion,
            sender: Sender::Company(self.company),
            receivers: Receivers::parse(&ids.join(",")).expect("receivers"),
            points_per_receiver: 10,
            message: None,
            share: true,
        }
    }

    pub(super) fn send_recognition(&self, command: &SendRecognition) -> Result<Vec<Recognition>, SendError> {
        self.execute_command(command)
    }

    pub(super) fn send_points(
        &self,
        sender: Sender,
        to: &[UserId],
        count: i64,
    ) -> Result<Vec<Recognition>, SendError> {
        self.send_recognition(&SendRecognition {
            sender,
            points_per_receiver: count,
            ..self.recognition_command(to)
        })
    }
}
