//! Payments without use cases: their transfers and their refusals.

use std::collections::BTreeSet;

use super::world::{World, points};
use crate::journal::{Act, JournalEntry};
use crate::decide::{Decide, Deciding, Undecided, decide_one};
use crate::ledger::{AccountBook, Facts, LedgerError, Moved, Needs, Payment, PaymentOutcome};
use crate::money::{Amount, Price, price};
use crate::ports::StoreError;
use crate::values::{CompanyId, UserId};
use crate::wallets::{Account, Reason, WalletType};

fn wallet(user: UserId) -> Account {
    Account::Wallet(WalletType::User, user)
}

/// Makes payments of one journal entry between these accounts.
struct Pay<'a, R> {
    company: CompanyId,
    act: Act,
    accounts: Vec<Account>,
    pay: &'a dyn Fn(&JournalEntry, &mut AccountBook) -> Result<R, LedgerError>,
}

impl<R> Decide for Pay<'_, R> {
    type Done = R;
    type Refusal = StoreError;

    fn needs(&self) -> Needs {
        let accounts = self.accounts.iter().copied().chain([Account::Rounding(self.company)]);
        Needs { companies: BTreeSet::from([self.company]), accounts: accounts.collect(), ..Needs::default() }
    }

    fn further_needs(&self, _: &Facts) -> Result<Needs, LedgerError> {
        Ok(Needs::default())
    }

    fn decide(&self, on: &mut Deciding<'_>) -> Result<R, Undecided<StoreError>> {
        let Deciding { facts, book, changes, context, .. } = on;
        let company = &facts.company(self.company)?.unwrap().company;
        let cause = context.cause(company, self.act.clone());
        let paid = (self.pay)(&cause, book)?;
        changes.journal_entries.push(cause);
        Ok(paid)
    }
}

/// A payment for a reason.
fn payment<'a>(cause: &JournalEntry, reason: Reason, moved: Moved<'a>) -> Payment<'a> {
    let (company, rate, at) = (cause.company_id, cause.rate, cause.created_at);
    Payment { company, cause: cause.id, reason, rate, moved, at }
}

fn distribution(count: i64, receivers: u32) -> Act {
    Act::Distribution { wallet: WalletType::User, points: points(count), receivers, date: None }
}

fn priced(world: &World<'_>, count: i64, receivers: i64) -> Price {
    price(world.found().company.rate, points(count), receivers).unwrap()
}

/// The outcome of a payment to `credits` from the first of `payers` that covers it. The payment is rolled
/// back.
fn tried(world: &World<'_>, payers: &[Account], credits: &[Account], count: i64) -> PaymentOutcome {
    tried_for(world, Reason::PointDistribution, payers, credits, count).0
}

fn tried_for(
    world: &World<'_>,
    reason: Reason,
    payers: &[Account],
    credits: &[Account],
    count: i64,
) -> (PaymentOutcome, Vec<Option<Amount>>) {
    let price = priced(world, count, i64::try_from(credits.len()).unwrap());
    let moved = Moved::Price { payers, credits, price, points: points(count) };
    let command = Pay {
        company: world.company,
        act: distribution(count.max(1), 1),
        accounts: [payers, credits].concat(),
        pay: &|cause, book| book.pay(&payment(cause, reason, moved)),
    };
    let mut found = None;
    let undone = world.transaction(|tx| {
        let (outcome, batch) = decide_one(tx, world.provider, &command, &world.context())?;
        if matches!(outcome, PaymentOutcome::Paid(_)) {
            batch.write(tx)?;
        }
        let mut left = Vec::new();
        for payer in payers {
            left.push(tx.balance(*payer)?);
        }
        found = Some((outcome, left));
        Err::<(), _>(StoreError::Busy)
    });
    assert!(matches!(undone, Err(StoreError::Busy)), "{undone:?}");
    found.unwrap()
}

pub(super) fn an_account_is_opened_once_in_its_company(world: &World<'_>) {
    let ann = world.user("ann");
    let open = |account| {
        let at = world.context().clock.now();
        world.transaction(|tx| tx.open(world.company, &[account], at))
    };
    assert!(open(wallet(ann)).is_err());
    assert!(
        open(Account::Reserve(world.foreign().1.company.id)).is_err(),
        "a company's accounts are its own"
    );
    assert!(open(wallet(UserId::from_uuid(world.company.as_uuid()))).is_err());
    open(Account::Wallet(WalletType::Manager, ann)).unwrap();
    assert_eq!(world.shows(WalletType::Manager, ann), Some((0, 0)));
}

pub(super) fn a_closed_or_missing_account_receives_nothing(world: &World<'_>) {
    let (ann, gone) = (world.user("ann"), world.user("gone"));
    world.delete(gone).unwrap();
    world.deposit(100).unwrap();
    let reserve = [Account::Reserve(world.company)];
    for count in [0, 1] {
        let to = |receivers: &[Account]| tried(world, &reserve, receivers, count);
        assert!(matches!(to(&[wallet(ann)]), PaymentOutcome::Paid(_)));
        assert_eq!(to(&[wallet(ann), wallet(gone)]), PaymentOutcome::Closed);
        assert_eq!(to(&[Account::Wallet(WalletType::Manager, ann)]), PaymentOutcome::Closed);
        assert_eq!(
            tried(world, &[Account::Wallet(WalletType::Peer, gone)], &[wallet(ann)], count),
            PaymentOutcome::Insufficient
        );
    }
    assert_eq!((world.reserve(), world.shows(WalletType::User, ann)), (100, Some((0, 0))));
}

pub(super) fn the_account_locked_first_is_refused_first(world: &World<'_>) {
    let (ann, gone) = (world.user("ann"), world.user("gone"));
    world.delete(gone).unwrap();
    let from = |payer, to| tried(world, &[payer], &[to], 1);
    assert_eq!(from(Account::Reserve(world.company), wallet(gone)), PaymentOutcome::Closed);
    assert_eq!(from(Account::Reserve(world.company), wallet(ann)), PaymentOutcome::Insufficient);
    let peer = Account::Wallet(WalletType::Peer, gone);
    assert_eq!(
        from(wallet(ann), peer),
        PaymentOutcome::Insufficient,
        "a user wallet comes before a peer wallet"
    );
}

pub(super) fn the_first_payer_that_covers_the_whole_pays(world: &World<'_>) {
    let (ann, bob) = (world.user("ann"), world.user("bob"));
    world.fund(WalletType::Peer, ann, 4);
    world.deposit(10).unwrap();
    let payers = [Account::Wallet(WalletType::Peer, ann), Account::Reserve(world.company)];
    for (count, expected) in [(5, (4, 5)), (4, (0, 10))] {
        let (outcome, left) = tried_for(world, Reason::Recognition, &payers, &[wallet(bob)], count);
        assert!(matches!(outcome, PaymentOutcome::Paid(paid) if paid.transfers == 1));
        let rate = world.found().company.rate;
        let shown: Vec<i64> = left.into_iter().map(|balance| rate.points(balance.unwrap()).get()).collect();
        assert_eq!(shown, [expected.0, expected.1]);
    }
}

pub(super) fn points_in_transit_reach_accounts_that_are_still_open(world: &World<'_>) {
    let users: Vec<UserId> = (0..3).map(|number| world.user(&format!("u{number}"))).collect();
    world.delete(users[1]).unwrap();
    world.deposit(20).unwrap();
    let to: Vec<Account> = users.iter().map(|user| wallet(*user)).collect();
    let (reserve, transit) = (Account::Reserve(world.company), Account::Transit(world.company));
    let rate = world.found().company.rate;
    let whole = price(rate, points(5), 3).unwrap();
    let one = price(rate, points(5), 1).unwrap();
    let rest = Price { threshold: one.total, ..one };
    let command = Pay {
        company: world.company,
        act: distribution(5, 3),
        accounts: to.iter().copied().chain([reserve, transit]).collect(),
        pay: &|cause, book| {
            let mut pay = |moved| book.pay(&payment(cause, Reason::PointDistribution, moved));
            let into = Moved::Sum { from: reserve, to: transit, price: whole, leg: 4 };
            assert!(matches!(pay(into)?, PaymentOutcome::Paid(paid) if paid.transfers == 1));
            let (each, points) = (whole.each, points(5));
            let share = Moved::Share { from: transit, to: &to, first_leg: 1, each, points };
            let given = pay(share)?.certain()?.transfers;
            pay(Moved::Sum { from: transit, to: reserve, price: rest, leg: 5 })?.certain()?;
            let more = Moved::Sum { from: transit, to: reserve, price: rest, leg: 6 };
            assert_eq!(pay(more)?, PaymentOutcome::Insufficient);
            Ok(given)
        },
    };
    let given = world.carry_out(&command);
    assert_eq!(given.unwrap(), 2, "who is closed gets nothing");
    assert_eq!(world.read(|tx| tx.balance(transit)), Some(Amount::ZERO));
    assert_eq!((world.reserve(), world.shows(WalletType::User, users[2])), (10, Some((5, 0))));
}

pub(super) fn a_transfer_has_the_accounts_and_the_price_of_its_reason(world: &World<'_>) {
    let ann = world.user("ann");
    world.deposit(100).unwrap();
    let reserve = [Account::Reserve(world.company)];
    let foreign = world.foreign().1.company.id;
    let refused = |reason, payers: &[Account], credit: Account, price: Price, what: &str| {
        let moved = Moved::Price { payers, credits: &[credit], price, points: points(1) };
        let refused = world.carry_out(&Pay {
            company: world.company,
            act: distribution(1, 1),
            accounts: [payers, &[credit]].concat(),
            pay: &|cause, book| book.pay(&payment(cause, reason, moved)),
        });
        assert!(refused.is_err(), "{what}");
        assert_eq!(world.reserve(), 100, "{what}");
    };
    let one = priced(world, 1, 1);
    refused(Reason::Redemption, &reserve, wallet(ann), one, "a redemption is paid by a user");
    refused(Reason::Deposit, &reserve, wallet(ann), one, "a deposit comes from outside");
    refused(
        Reason::Recognition,
        &reserve,
        Account::Wallet(WalletType::Peer, ann),
        one,
        "the user wallet receives",
    );
    let two = Price { each: priced(world, 2, 1).each, total: priced(world, 2, 1).total, ..one };
    refused(Reason::PointDistribution, &reserve, wallet(ann), two, "two are not the price of one");
    let theirs = [Account::Funding(foreign)];
    let free = Price { threshold: Amount::from_nanodollars(-1), ..one };
    refused(
        Reason::Deposit,
        &theirs,
        reserve[0],
        free.on_credit(one.total).unwrap(),
        "another company's account",
    );
    let short = Price { threshold: Amount::ZERO, ..priced(world, 101, 1) };
    refused(
        Reason::PointDistribution,
        &[Account::Transit(world.company)],
        wallet(ann),
        short,
        "more than is made up",
    );
}
