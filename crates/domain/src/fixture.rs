//! A company, its users and their accounts as loaded facts. Unit tests of decisions use it instead of a
//! store.

use uuid::Uuid;

use crate::decide::{Decide, DecideError, DecisionState};
use crate::ledger::{AccountBook, AccountState, Changes, CompanyFacts, Facts, LedgerError};
use crate::memory::{FixedClock, PlainBodies, SequentialIds};
use crate::model::{Company, Occasion, OccasionText, Requester, UserSummary};
use crate::money::{Amount, Points, PointsPerDollar};
use crate::ports::Context;
use crate::values::{
    CompanyId, DomainName, EmailAddress, Message, OccasionId, ProviderId, SingleLine, Timestamp, UserId,
    WebUrl,
};
use crate::wallets::{Account, WalletType};

/// The provider of the company.
pub(crate) const PROVIDER: ProviderId = ProviderId::from_uuid(Uuid::from_u128(1));
pub(crate) const COMPANY: CompanyId = CompanyId::from_uuid(Uuid::from_u128(2));
pub(crate) const OCCASION: OccasionId = OccasionId::from_uuid(Uuid::from_u128(3));

pub(crate) struct Fixture {
    pub(crate) facts: Facts,
    pub(crate) book: AccountBook,
    pub(crate) changes: Changes,
    pub(crate) clock: FixedClock,
    ids: SequentialIds,
}

/// The id of the user with this number.
pub(crate) fn user_id(number: u128) -> UserId {
    UserId::from_uuid(Uuid::from_u128(1_000 + number))
}

pub(crate) fn points(count: i64) -> Points {
    Points::new(count).unwrap()
}

impl Fixture {
    /// A company at a rate, with an occasion and no users. Its reserve and its outside accounts are loaded,
    /// except the rounding account.
    pub(crate) fn new(rate: i64) -> Self {
        let mut fixture = Self {
            facts: Facts::default(),
            book: AccountBook::default(),
            changes: Changes::default(),
            clock: FixedClock(Timestamp::UNIX_EPOCH),
            ids: SequentialIds::default(),
        };
        fixture.add_company(COMPANY, PROVIDER, rate);
        fixture.add_occasion(OCCASION, None);
        for account in [Account::Reserve(COMPANY), Account::Funding(COMPANY), Account::Redeemed(COMPANY)] {
            fixture.load_account(account, Amount::ZERO);
        }
        fixture
    }

    pub(crate) fn add_company(&mut self, id: CompanyId, provider_id: ProviderId, rate: i64) {
        let company = Company {
            id,
            provider_id,
            corporation_id: None,
            domain: DomainName::parse("example.com").unwrap(),
            name: SingleLine::parse("Example").unwrap(),
            owner_id: user_id(0),
            logo_url: WebUrl::parse("https://example.com/logo.png").unwrap(),
            rate: PointsPerDollar::new(rate).unwrap(),
            reserve_alert: None,
            reserve_bcc: None,
            allow_zero_points: false,
            created_at: Timestamp::UNIX_EPOCH,
            updated_at: Timestamp::UNIX_EPOCH,
            handed_over_at: None,
        };
        self.facts.companies.insert(id, Some(CompanyFacts { company, has_callback: true }));
    }

    /// Returns the company for modification.
    pub(crate) fn company_mut(&mut self) -> &mut Company {
        &mut self.facts.companies.get_mut(&COMPANY).unwrap().as_mut().unwrap().company
    }

    pub(crate) fn add_occasion(&mut self, id: OccasionId, company: Option<(CompanyId, ProviderId)>) {
        let occasion = Occasion {
            id,
            company_id: company.map(|company| company.0),
            text: OccasionText {
                name: SingleLine::parse("Thanks").unwrap(),
                title: SingleLine::parse("Thanks").unwrap(),
                default_message: Message::parse("Thank you").unwrap(),
            },
            enabled: true,
            visible: true,
            created_at: Timestamp::UNIX_EPOCH,
            updated_at: Timestamp::UNIX_EPOCH,
        };
        self.facts.occasions.insert(id, Some((company.map(|company| company.1), occasion)));
    }

    /// Adds an active user of the company whose user, peer and manager wallets show these points. A user with
    /// a manager wallet is a manager.
    pub(crate) fn add_user(&mut self, number: u128, wallets: &[i64]) -> UserId {
        let id = user_id(number);
        let user = UserSummary {
            id,
            company_id: COMPANY,
            first_name: SingleLine::parse("Ann").unwrap(),
            last_name: None,
            email: EmailAddress::parse(&format!("u{number}@example.com")).unwrap(),
            manager: wallets.len() == 3,
            active: true,
        };
        self.facts.users.insert(id, Some(user));
        let rate = self.company_mut().rate;
        for (wallet, shown) in WalletType::ALL.iter().zip(wallets) {
            self.load_account(Account::Wallet(*wallet, id), rate.to_amount(points(*shown)).unwrap());
        }
        id
    }

    /// Returns a user for modification.
    pub(crate) fn user_mut(&mut self, id: UserId) -> &mut UserSummary {
        self.facts.users.get_mut(&id).unwrap().as_mut().unwrap()
    }

    /// Loads an account with a balance.
    pub(crate) fn load_account(&mut self, account: Account, balance: Amount) {
        self.book.insert_loaded(account, Some(AccountState { balance, ..AccountState::default() }));
    }

    /// Sets the points that the reserve shows, and its alert threshold.
    pub(crate) fn set_reserve(&mut self, shown: i64, alert_below: Option<i64>) {
        let rate = self.company_mut().rate;
        self.company_mut().reserve_alert = alert_below.map(points);
        let reserve = self.book.account_mut(Account::Reserve(COMPANY)).unwrap();
        reserve.balance = rate.to_amount(points(shown)).unwrap();
        reserve.alert_below = alert_below.map(|threshold| rate.min_balance(points(threshold)).unwrap());
    }

    pub(crate) fn add_administrator(&mut self, address: &str) {
        let all = self.facts.administrators.entry(COMPANY).or_default();
        all.push(EmailAddress::parse(address).unwrap());
    }

    /// The points that an account shows.
    pub(crate) fn shown_points(&mut self, account: Account) -> i64 {
        let balance = self.book.account(account).unwrap().balance;
        self.company_mut().rate.shown_points(balance).get()
    }

    /// Decides a command. A refused command leaves no changes.
    pub(crate) fn decide_command<C: Decide>(
        &mut self,
        scope: ProviderId,
        command: &C,
    ) -> Result<C::Done, DecideError<C::Refusal>> {
        let requester = &Requester::OPERATOR;
        let context = Context { clock: &self.clock, ids: &self.ids, bodies: &PlainBodies, requester };
        let mut changes = Changes::default();
        self.book.set_savepoint();
        let (facts, book) = (&self.facts, &mut self.book);
        let state = &mut DecisionState { scope, facts, book, changes: &mut changes, context: &context };
        let decided = command.decide(state);
        match decided {
            Ok(_) => self.changes.append(&mut changes),
            Err(_) => self.book.roll_back_to_savepoint(),
        }
        decided
    }
}

/// Returns the refusal of a decision. Panics if the command was not refused.
pub(crate) fn expect_refusal<D, E>(decided: Result<D, DecideError<E>>) -> E {
    match decided {
        Err(DecideError::Refused(refusal)) => refusal,
        Err(DecideError::NotLoaded(missing)) => panic!("{missing}"),
        Ok(_) => panic!("the command was not refused"),
    }
}

/// Returns the fact or account that a decision lacked. Panics if nothing was missing.
pub(crate) fn expect_not_loaded<D, E>(decided: Result<D, DecideError<E>>) -> LedgerError {
    match decided {
        Err(DecideError::NotLoaded(missing)) => missing,
        Err(DecideError::Refused(_)) => panic!("the command was refused"),
        Ok(_) => panic!("the command was decided"),
    }
}
