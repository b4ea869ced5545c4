//! Payments by themselves: what moves, and what the accounts refuse.

use super::Case;
use super::world::{World, points};
use crate::causes::Act;
use crate::money::{Amount, Price, price};
use crate::ports::{Ledger, Moved, Outcome, Payment, StoreError};
use crate::values::UserId;
use crate::wallets::{Account, Reason, WalletType};

pub(super) const CASES: &[Case] = &[
    ("an account is opened once, where it belongs", an_account_is_opened_once),
    ("nobody is paid whose account is closed or was never opened", nobody_closed_is_paid),
    ("the refusal of who is locked first comes first", the_first_refusal_counts),
    ("of several payers the first that covers the whole pays", the_first_that_covers_pays),
    ("a sum goes into transit and is given to those who are still open", a_sum_is_given_in_steps),
    ("a transfer goes only where its reason says, at its price", a_transfer_is_judged),
];

fn wallet(user: UserId) -> Account {
    Account::Wallet(WalletType::User, user)
}

/// A payment of a cause that is recorded with it.
fn pay(
    world: &World<'_>,
    tx: &mut dyn Ledger,
    act: Act,
    reason: Reason,
    moved: Moved<'_>,
) -> Result<Outcome, StoreError> {
    let company = tx.company(world.provider, world.company)?.named("id").unwrap().company;
    let cause = world.context().cause(&company, act);
    tx.record(&cause)?;
    let (company, rate, at) = (company.id, company.rate, cause.created_at);
    tx.pay(&Payment { company, cause: cause.id, reason, rate, moved, at })
}

fn distribution(count: i64, receivers: u32) -> Act {
    Act::Distribution { wallet: WalletType::User, points: points(count), receivers, date: None }
}

fn priced(world: &World<'_>, count: i64, receivers: i64) -> Price {
    price(world.found().company.rate, points(count), receivers).unwrap()
}

/// What would become of a payment from the reserve to these, or from others; nothing of it is kept.
fn tried(world: &World<'_>, payers: &[Account], credits: &[Account], count: i64) -> Outcome {
    let price = priced(world, count, i64::try_from(credits.len()).unwrap());
    let moved = Moved::Price { payers, credits, price, points: points(count) };
    let mut outcome = None;
    let undone = world.transaction(|tx| {
        outcome = Some(pay(world, tx, distribution(count.max(1), 1), Reason::PointDistribution, moved)?);
        Err::<(), _>(StoreError::Busy)
    });
    assert!(matches!(undone, Err(StoreError::Busy)), "{undone:?}");
    outcome.unwrap()
}

fn an_account_is_opened_once(world: &World<'_>) {
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

fn nobody_closed_is_paid(world: &World<'_>) {
    let (ann, gone) = (world.user("ann"), world.user("gone"));
    world.delete(gone).unwrap();
    world.deposit(100).unwrap();
    let reserve = [Account::Reserve(world.company)];
    for count in [0, 1] {
        let to = |it: &[Account]| tried(world, &reserve, it, count);
        assert!(matches!(to(&[wallet(ann)]), Outcome::Paid(_)));
        assert_eq!(to(&[wallet(ann), wallet(gone)]), Outcome::Closed);
        assert_eq!(to(&[Account::Wallet(WalletType::Manager, ann)]), Outcome::Closed);
        assert_eq!(
            tried(world, &[Account::Wallet(WalletType::Peer, gone)], &[wallet(ann)], count),
            Outcome::Insufficient
        );
    }
    assert_eq!((world.reserve(), world.shows(WalletType::User, ann)), (100, Some((0, 0))));
}

fn the_first_refusal_counts(world: &World<'_>) {
    let (ann, gone) = (world.user("ann"), world.user("gone"));
    world.delete(gone).unwrap();
    let from = |payer, to| tried(world, &[payer], &[to], 1);
    assert_eq!(from(Account::Reserve(world.company), wallet(gone)), Outcome::Closed);
    assert_eq!(from(Account::Reserve(world.company), wallet(ann)), Outcome::Insufficient);
    let peer = Account::Wallet(WalletType::Peer, gone);
    assert_eq!(from(wallet(ann), peer), Outcome::Insufficient, "a user wallet comes before a peer wallet");
}

fn the_first_that_covers_pays(world: &World<'_>) {
    let (ann, bob) = (world.user("ann"), world.user("bob"));
    world.fund(WalletType::Peer, ann, 4);
    world.deposit(10).unwrap();
    let payers = [Account::Wallet(WalletType::Peer, ann), Account::Reserve(world.company)];
    for (count, expected) in [(5, (4, 5)), (4, (0, 10))] {
        let price = priced(world, count, 1);
        let moved = Moved::Price { payers: &payers, credits: &[wallet(bob)], price, points: points(count) };
        let mut left = None;
        let undone = world.transaction(|tx| {
            let outcome = pay(world, tx, distribution(count, 1), Reason::Recognition, moved)?;
            assert!(matches!(outcome, Outcome::Paid(it) if it.transfers == 1));
            left = Some((tx.balance(payers[0])?.unwrap(), tx.balance(payers[1])?.unwrap()));
            Err::<(), _>(StoreError::Busy)
        });
        assert!(undone.is_err());
        let rate = world.found().company.rate;
        let shown = left.map(|(peer, reserve)| (rate.points(peer).get(), rate.points(reserve).get()));
        assert_eq!(shown, Some(expected));
    }
}

fn a_sum_is_given_in_steps(world: &World<'_>) {
    let users: Vec<UserId> = (0..3).map(|it| world.user(&format!("u{it}"))).collect();
    world.delete(users[1]).unwrap();
    world.deposit(20).unwrap();
    let to: Vec<Account> = users.iter().map(|it| wallet(*it)).collect();
    let (reserve, transit) = (Account::Reserve(world.company), Account::Transit(world.company));
    let given = world.transaction(|tx| {
        let company = tx.company(world.provider, world.company)?.named("id").unwrap().company;
        let cause = world.context().cause(&company, distribution(5, 3));
        tx.record(&cause)?;
        let payment = |moved| Payment {
            company: company.id,
            cause: cause.id,
            reason: Reason::PointDistribution,
            rate: company.rate,
            moved,
            at: cause.created_at,
        };
        let whole = price(company.rate, points(5), 3).unwrap();
        let into = Moved::Sum { from: reserve, to: transit, price: whole, leg: 4 };
        assert!(matches!(tx.pay(&payment(into))?, Outcome::Paid(it) if it.transfers == 1));
        let share =
            Moved::Share { from: transit, to: &to, first_leg: 1, each: whole.each, points: points(5) };
        let given = tx.pay(&payment(share))?.certain()?.transfers;
        let one = price(company.rate, points(5), 1).unwrap();
        let rest = Price { threshold: one.total, ..one };
        tx.pay(&payment(Moved::Sum { from: transit, to: reserve, price: rest, leg: 5 }))?.certain()?;
        let more = Moved::Sum { from: transit, to: reserve, price: rest, leg: 6 };
        assert_eq!(tx.pay(&payment(more))?, Outcome::Insufficient);
        Ok::<_, StoreError>(given)
    });
    assert_eq!(given.unwrap(), 2, "who is closed gets nothing");
    assert_eq!(world.read(|tx| tx.balance(transit)), Some(Amount::ZERO));
    assert_eq!((world.reserve(), world.shows(WalletType::User, users[2])), (10, Some((5, 0))));
}

fn a_transfer_is_judged(world: &World<'_>) {
    let ann = world.user("ann");
    world.deposit(100).unwrap();
    let reserve = [Account::Reserve(world.company)];
    let foreign = world.foreign().1.company.id;
    let refused = |reason, payers: &[Account], credit: Account, price: Price, what: &str| {
        let fate = world.transaction(|tx| {
            let moved = Moved::Price { payers, credits: &[credit], price, points: points(1) };
            pay(world, tx, distribution(1, 1), reason, moved).map(drop)
        });
        assert!(fate.is_err(), "{what}");
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
