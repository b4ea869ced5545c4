//! The data of a test case: a provider, a company, its owner, one occasion, and a clock that advances by a
//! microsecond on each read.

use std::sync::atomic::{AtomicI64, Ordering};

use uuid::Uuid;

use super::Bench;
use crate::companies::{self, CompanyWithOwner, CreateCompany, UpdateCompany, UpdateCompanyError};
use crate::decide::{Decide, carry_out};
use crate::events::{Event, EventFacts};
use crate::journal::{Actor, Origin};
use crate::money::{Points, PointsPerDollar, Sum};
use crate::occasions::{self, Occasion, OccasionText};
use crate::overrides::{ReplaceBalance, ReplaceError};
use crate::ports::{Clock, Context, EventBodies, Ids, Ledger, StoreError, Timestamp, Unrenderable, Verdict};
use crate::providers::{self, CreateProvider};
use crate::recognitions::{Receivers, Recognition, SendError, SendRecognition, Sender};
use crate::reserve::{self, ChangeReserve, ReserveChange, ReserveError};
use crate::users::{self, DeleteUser, DeleteUserError, Profile, User};
use crate::values::{
    CompanyId, DomainName, EmailAddress, Line, Message, OccasionId, Page, ProviderId, UserId, WebUrl,
};
use crate::wallets::WalletType;

/// Predictable time, ids and bodies.
struct Surroundings {
    micros: AtomicI64,
    next: AtomicI64,
}

impl Clock for Surroundings {
    fn now(&self) -> Timestamp {
        let micros = self.micros.fetch_add(1, Ordering::Relaxed);
        Timestamp::from_unix_micros(micros).expect("a time")
    }
}

impl Ids for Surroundings {
    fn next(&self) -> Uuid {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        Uuid::from_u64_pair(0x0193_0000_0000_7000, u64::try_from(number).expect("a number"))
    }
}

impl EventBodies for Surroundings {
    fn body(&self, event: &Event<'_>) -> Result<Vec<u8>, Unrenderable> {
        Ok(EventFacts::of(event).to_string().into_bytes())
    }

    fn facts(&self, body: &[u8]) -> Option<EventFacts> {
        std::str::from_utf8(body).ok()?.parse().ok()
    }

    fn without(&self, body: &[u8], _: UserId, _: &EmailAddress) -> Result<Vec<u8>, Unrenderable> {
        Ok(body.to_vec())
    }
}

pub(super) struct World<'a> {
    pub(super) bench: &'a dyn Bench,
    surroundings: Surroundings,
    pub(super) provider: ProviderId,
    pub(super) company: CompanyId,
    pub(super) owner: UserId,
    pub(super) occasion: OccasionId,
}

pub(super) fn points(count: i64) -> Points {
    Points::new(count).expect("points")
}

pub(super) fn line(text: &str) -> Line {
    Line::parse(text).expect("a line")
}

pub(super) fn email(text: &str) -> EmailAddress {
    EmailAddress::parse(text).expect("an address")
}

pub(super) fn page(number: i64, per_page: i64) -> Page {
    Page::new(number, per_page).expect("a page")
}

pub(super) fn text(name: &str) -> OccasionText {
    let default_message = Message::parse("Thank you").expect("a message");
    OccasionText { name: line(name), title: line(name), default_message }
}

/// A user with a name.
pub(super) fn profile(name: &str) -> Profile {
    Profile::named(email(&format!("{name}@example.com")), line(name), Some(line("Doe")))
}

/// A company with a domain, at fifty points per dollar.
pub(super) fn company(domain: &str) -> CreateCompany {
    let domain = DomainName::parse(domain).expect("a domain");
    let logo = WebUrl::parse("https://example.com/logo.png").expect("a URL");
    let owner = (email("owner@example.com"), line("Olive"));
    let owner_last_name = Some(line("Owner"));
    CreateCompany { owner_last_name, ..CreateCompany::named(domain, line("Example"), owner, logo) }
}

impl<'a> World<'a> {
    pub(super) fn new(bench: &'a dyn Bench) -> Self {
        let surroundings =
            Surroundings { micros: AtomicI64::new(1_795_000_000_000_000), next: AtomicI64::new(1) };
        let provider = ProviderId::from_uuid(Uuid::nil());
        let company_id = CompanyId::from_uuid(Uuid::nil());
        let (owner, occasion) = (UserId::from_uuid(Uuid::nil()), OccasionId::from_uuid(Uuid::nil()));
        let mut world = Self { bench, surroundings, provider, company: company_id, owner, occasion };
        world.provider = world.provider();
        let created = world.create_company(world.provider, &company("example.com")).company;
        (world.company, world.owner) = (created.id, created.owner_id);
        world.occasion = world.occasion_of(world.company, "Great job").id;
        world
    }

    pub(super) fn context(&self) -> Context<'_> {
        let it = &self.surroundings;
        let origin = Origin { actor: Actor::Operator, reference: Some("tester"), key: None };
        Context { clock: it, ids: it, bodies: it, origin }
    }

    pub(super) fn uuid(&self) -> Uuid {
        self.surroundings.next()
    }

    /// Runs one unit of work: `Ok` commits, `Err` rolls back.
    pub(super) fn transaction<T, E: From<StoreError>>(
        &self,
        mut work: impl FnMut(&mut dyn Ledger) -> Result<T, E>,
    ) -> Result<T, E> {
        let mut answer = None;
        self.bench.run(&mut |tx| {
            let result = work(tx);
            let verdict = if result.is_ok() { Verdict::Commit } else { Verdict::Rollback };
            answer = Some(result);
            verdict
        })?;
        answer.expect("an answer")
    }

    /// Runs a unit of work that cannot fail.
    pub(super) fn read<T>(&self, work: impl FnMut(&mut dyn Ledger) -> Result<T, StoreError>) -> T {
        self.transaction(work).expect("an answer")
    }

    /// Another provider.
    pub(super) fn provider(&self) -> ProviderId {
        let id = ProviderId::from_uuid(self.uuid());
        let create = |tx: &mut dyn Ledger| {
            let callback_url = Some("https://sample.example.com/hook".into());
            let command = CreateProvider { callback_url, ..CreateProvider::local(id, line("Sample")) };
            providers::create(tx, command, &self.context())
        };
        self.read(create).id
    }

    pub(super) fn create_company(&self, provider: ProviderId, command: &CreateCompany) -> CompanyWithOwner {
        self.transaction(|tx| companies::create(tx, provider, command, &self.context())).expect("a company")
    }

    /// A company of another provider, with its occasion and its owner.
    pub(super) fn foreign(&self) -> (ProviderId, CompanyWithOwner, Occasion) {
        let provider = self.provider();
        let found = self.create_company(provider, &company("foreign.example.com"));
        let create = |tx: &mut dyn Ledger| {
            occasions::create(tx, provider, found.company.id, &text("Theirs"), true, true, &self.context())
        };
        let occasion = self.transaction(create).expect("an occasion");
        (provider, found, occasion)
    }

    pub(super) fn occasion_of(&self, company: CompanyId, name: &str) -> Occasion {
        let create = |tx: &mut dyn Ledger| {
            occasions::create(tx, self.provider, company, &text(name), true, true, &self.context())
        };
        self.transaction(create).expect("an occasion")
    }

    pub(super) fn found(&self) -> CompanyWithOwner {
        self.read(|tx| tx.company(self.provider, self.company)).named("id").expect("the company")
    }

    pub(super) fn update(&self, command: &UpdateCompany) -> Result<CompanyWithOwner, UpdateCompanyError> {
        self.transaction(|tx| companies::update(tx, self.provider, self.company, command, &self.context()))
    }

    pub(super) fn set_rate(&self, rate: i64) {
        let rate = PointsPerDollar::new(rate);
        self.update(&UpdateCompany { rate, ..UpdateCompany::default() }).expect("a new rate");
    }

    pub(super) fn user(&self, name: &str) -> UserId {
        self.user_of(&profile(name)).id
    }

    /// Creates a user with this profile.
    pub(super) fn user_of(&self, profile: &Profile) -> User {
        let create =
            |tx: &mut dyn Ledger| users::create(tx, self.provider, self.company, profile, &self.context());
        self.transaction(create).expect("a user")
    }

    pub(super) fn delete(&self, user: UserId) -> Result<(), DeleteUserError> {
        self.carry_out(&DeleteUser(user))
    }

    /// Executes a command that moves points, in a separate transaction.
    pub(super) fn carry_out<C: Decide>(&self, command: &C) -> Result<C::Done, C::Refusal> {
        self.transaction(|tx| carry_out(tx, self.provider, command, &self.context()))
    }

    pub(super) fn deposit_to(&self, company_id: CompanyId, count: i64) -> Result<i64, ReserveError> {
        let sum = Sum::Points(points(count));
        let done = self.carry_out(&ChangeReserve { company_id, change: ReserveChange::Deposit, sum })?;
        Ok(done.after.get())
    }

    pub(super) fn deposit(&self, count: i64) -> Result<i64, ReserveError> {
        self.deposit_to(self.company, count)
    }

    pub(super) fn reserve(&self) -> i64 {
        self.transaction(|tx| reserve::shown(tx, self.company)).expect("the reserve").get()
    }

    /// Makes a wallet show these points, paid from the reserve.
    pub(super) fn put(&self, wallet: WalletType, user: UserId, count: i64) -> Result<(), ReplaceError> {
        let sum = Sum::Points(points(count));
        self.carry_out(&ReplaceBalance { user_id: user, wallet, sum }).map(drop)
    }

    /// Makes a wallet show these points, after depositing them to the reserve.
    pub(super) fn fund(&self, wallet: WalletType, user: UserId, count: i64) {
        self.deposit(count).expect("a deposit");
        self.put(wallet, user, count).expect("funds");
    }

    /// The points that a wallet shows, and the points that it has spent.
    pub(super) fn shows(&self, wallet: WalletType, user: UserId) -> Option<(i64, i64)> {
        let rate = self.found().company.rate;
        let wallets = self.read(|tx| tx.wallets(user));
        let found = wallets.iter().find(|candidate| candidate.wallet_type == wallet)?;
        Some((found.points(rate).get(), found.points_spent(rate).get()))
    }

    /// A recognition of ten points by the company for its single occasion.
    pub(super) fn command(&self, to: &[UserId]) -> SendRecognition {
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

    pub(super) fn send(&self, command: &SendRecognition) -> Result<Vec<Recognition>, SendError> {
        self.carry_out(command)
    }

    pub(super) fn give(
        &self,
        sender: Sender,
        to: &[UserId],
        count: i64,
    ) -> Result<Vec<Recognition>, SendError> {
        self.send(&SendRecognition { sender, points_per_receiver: count, ..self.command(to) })
    }
}
