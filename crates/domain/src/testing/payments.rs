//! Payments without use cases: their transfers and their refusals.

use std::collections::BTreeSet;

use super::env::{TestEnv, points};
use crate::decide::{Decide, DecideError, DecisionState, decide_command};
use crate::journal::{EntryKind, JournalEntry};
use crate::ledger::{AccountBook, Facts, LedgerError, Needs, Payment, PaymentKind, PaymentOutcome};
use crate::money::{Amount, Price, payment_price};
use crate::ports::StoreError;
use crate::values::{CompanyId, UserId};
use crate::wallets::{Account, Reason, WalletType};

fn user_wallet(user: UserId) -> Account {
    Account::Wallet(WalletType::User, user)
}

/// Makes payments of one journal entry between these accounts.
struct Pay<'a, R> {
    company: CompanyId,
    kind: EntryKind,
    accounts: Vec<Account>,
    pay: &'a dyn Fn(&JournalEntry, &mut AccountBook) -> Result<R, LedgerError>,
}

impl<R> Decide for Pay<'_, R> {
    type Done = R;
    type Refusal = StoreError;

    fn initial_needs(&self) -> Needs {
        let accounts = self.accounts.iter().copied().chain([Account::Rounding(self.company)]);
        Needs { companies: BTreeSet::from([self.company]), accounts: accounts.collect(), ..Needs::default() }
    }

    fn further_needs(&self, _: &Facts) -> Result<Needs, LedgerError> {
        Ok(Needs::default())
    }

    fn decide(&self, on: &mut DecisionState<'_>) -> Result<R, DecideError<StoreError>> {
        let DecisionState { facts, book, changes, context, .. } = on;
        let company = &facts.find_company(self.company)?.unwrap().company;
        let entry = context.new_journal_entry(company, self.kind.clone());
        let paid = (self.pay)(&entry, book)?;
        changes.journal_entries.push(entry);
        Ok(paid)
    }
}

/// A payment for a reason.
fn payment_of_entry<'a>(entry: &JournalEntry, reason: Reason, kind: PaymentKind<'a>) -> Payment<'a> {
    let (company, rate, at) = (entry.company_id, entry.rate, entry.created_at);
    Payment { company, entry_id: entry.id, reason, rate, kind, at }
}

fn distribution_kind(count: i64, receivers: u32) -> EntryKind {
    EntryKind::Distribution { wallet: WalletType::User, points: points(count), receivers, date: None }
}

fn price_for(env: &TestEnv<'_>, count: i64, receivers: i64) -> Price {
    payment_price(env.find_company().company.rate, points(count), receivers).unwrap()
}

/// Pays `credits` from the first of `payers` that covers the price, and rolls the payment back. Returns the
/// outcome.
fn try_payment(env: &TestEnv<'_>, payers: &[Account], credits: &[Account], count: i64) -> PaymentOutcome {
    try_payment_for(env, Reason::PointDistribution, payers, credits, count).0
}

fn try_payment_for(
    env: &TestEnv<'_>,
    reason: Reason,
    payers: &[Account],
    credits: &[Account],
    count: i64,
) -> (PaymentOutcome, Vec<Option<Amount>>) {
    let price = price_for(env, count, i64::try_from(credits.len()).unwrap());
    let moved = PaymentKind::PricePerReceiver { payers, credits, price, points: points(count) };
    let command = Pay {
        company: env.company,
        kind: distribution_kind(count.max(1), 1),
        accounts: [payers, credits].concat(),
        pay: &|entry, book| book.pay(&payment_of_entry(entry, reason, moved)),
    };
    let mut found = None;
    let undone = env.transaction(|tx| {
        let (outcome, batch) = decide_command(tx, env.provider, &command, &env.context())?;
        if matches!(outcome, PaymentOutcome::Paid(_)) {
            batch.write_changes(tx)?;
        }
        let mut left = Vec::new();
        for payer in payers {
            left.push(tx.account_balance(*payer)?);
        }
        found = Some((outcome, left));
        Err::<(), _>(StoreError::Busy)
    });
    assert!(matches!(undone, Err(StoreError::Busy)), "{undone:?}");
    found.unwrap()
}

pub(super) fn an_account_is_opened_once_in_its_company(env: &TestEnv<'_>) {
    let ann = env.create_user("ann");
    let open = |account| {
        let at = env.context().clock.now();
        env.transaction(|tx| tx.open_accounts(env.company, &[account], at))
    };
    assert!(open(user_wallet(ann)).is_err());
    assert!(
        open(Account::Reserve(env.create_foreign_company().1.company.id)).is_err(),
        "the reserve of another company"
    );
    assert!(open(user_wallet(UserId::from_uuid(env.company.as_uuid()))).is_err());
    open(Account::Wallet(WalletType::Manager, ann)).unwrap();
    assert_eq!(env.wallet_points(WalletType::Manager, ann), Some((0, 0)));
}

pub(super) fn a_closed_or_missing_account_receives_nothing(env: &TestEnv<'_>) {
    let (ann, deleted) = (env.create_user("ann"), env.create_user("gone"));
    env.delete_user(deleted).unwrap();
    env.deposit(100).unwrap();
    let reserve = [Account::Reserve(env.company)];
    for count in [0, 1] {
        let to = |receivers: &[Account]| try_payment(env, &reserve, receivers, count);
        assert!(matches!(to(&[user_wallet(ann)]), PaymentOutcome::Paid(_)));
        assert_eq!(to(&[user_wallet(ann), user_wallet(deleted)]), PaymentOutcome::AccountClosed);
        assert_eq!(to(&[Account::Wallet(WalletType::Manager, ann)]), PaymentOutcome::AccountClosed);
        assert_eq!(
            try_payment(env, &[Account::Wallet(WalletType::Peer, deleted)], &[user_wallet(ann)], count),
            PaymentOutcome::InsufficientFunds
        );
    }
    assert_eq!((env.reserve_points(), env.wallet_points(WalletType::User, ann)), (100, Some((0, 0))));
}

pub(super) fn the_account_locked_first_is_refused_first(env: &TestEnv<'_>) {
    let (ann, deleted) = (env.create_user("ann"), env.create_user("gone"));
    env.delete_user(deleted).unwrap();
    let from = |payer, to| try_payment(env, &[payer], &[to], 1);
    assert_eq!(from(Account::Reserve(env.company), user_wallet(deleted)), PaymentOutcome::AccountClosed);
    assert_eq!(from(Account::Reserve(env.company), user_wallet(ann)), PaymentOutcome::InsufficientFunds);
    let peer = Account::Wallet(WalletType::Peer, deleted);
    assert_eq!(
        from(user_wallet(ann), peer),
        PaymentOutcome::InsufficientFunds,
        "a user wallet comes before a peer wallet"
    );
}

pub(super) fn the_first_payer_that_covers_the_whole_pays(env: &TestEnv<'_>) {
    let (ann, bob) = (env.create_user("ann"), env.create_user("bob"));
    env.fund_wallet(WalletType::Peer, ann, 4);
    env.deposit(10).unwrap();
    let payers = [Account::Wallet(WalletType::Peer, ann), Account::Reserve(env.company)];
    for (count, expected) in [(5, (4, 5)), (4, (0, 10))] {
        let (outcome, left) = try_payment_for(env, Reason::Recognition, &payers, &[user_wallet(bob)], count);
        assert!(matches!(outcome, PaymentOutcome::Paid(paid) if paid.transfer_count == 1));
        let rate = env.find_company().company.rate;
        let shown: Vec<i64> =
            left.into_iter().map(|balance| rate.shown_points(balance.unwrap()).get()).collect();
        assert_eq!(shown, [expected.0, expected.1]);
    }
}

pub(super) fn points_in_transit_reach_accounts_that_are_still_open(env: &TestEnv<'_>) {
    let users: Vec<UserId> = (0..3).map(|number| env.create_user(&format!("u{number}"))).collect();
    env.delete_user(users[1]).unwrap();
    env.deposit(20).unwrap();
    let to: Vec<Account> = users.iter().map(|user| user_wallet(*user)).collect();
    let (reserve, transit) = (Account::Reserve(env.company), Account::Transit(env.company));
    let rate = env.find_company().company.rate;
    let whole = payment_price(rate, points(5), 3).unwrap();
    let one = payment_price(rate, points(5), 1).unwrap();
    let rest = Price { threshold: one.total, ..one };
    let command = Pay {
        company: env.company,
        kind: distribution_kind(5, 3),
        accounts: to.iter().copied().chain([reserve, transit]).collect(),
        pay: &|entry, book| {
            let mut pay = |moved| book.pay(&payment_of_entry(entry, Reason::PointDistribution, moved));
            let into = PaymentKind::SingleLeg { from: reserve, to: transit, price: whole, leg: 4 };
            assert!(matches!(pay(into)?, PaymentOutcome::Paid(paid) if paid.transfer_count == 1));
            let (each, points) = (whole.each, points(5));
            let share = PaymentKind::SharePerReceiver { from: transit, to: &to, first_leg: 1, each, points };
            let paid_count = pay(share)?.expect_paid()?.transfer_count;
            pay(PaymentKind::SingleLeg { from: transit, to: reserve, price: rest, leg: 5 })?.expect_paid()?;
            let more = PaymentKind::SingleLeg { from: transit, to: reserve, price: rest, leg: 6 };
            assert_eq!(pay(more)?, PaymentOutcome::InsufficientFunds);
            Ok(paid_count)
        },
    };
    let paid_count = env.execute_command(&command);
    assert_eq!(paid_count.unwrap(), 2, "a closed wallet gets nothing");
    assert_eq!(env.with_tx(|tx| tx.account_balance(transit)), Some(Amount::ZERO));
    assert_eq!((env.reserve_points(), env.wallet_points(WalletType::User, users[2])), (10, Some((5, 0))));
}

pub(super) fn a_transfer_has_the_accounts_and_the_price_of_its_reason(env: &TestEnv<'_>) {
    let ann = env.create_user("ann");
    env.deposit(100).unwrap();
    let reserve = [Account::Reserve(env.company)];
    let foreign = env.create_foreign_company().1.company.id;
    let refused = |reason, payers: &[Account], credit: Account, price: Price, what: &str| {
        let moved = PaymentKind::PricePerReceiver { payers, credits: &[credit], price, points: points(1) };
        let refused = env.execute_command(&Pay {
            company: env.company,
            kind: distribution_kind(1, 1),
            accounts: [payers, &[credit]].concat(),
            pay: &|entry, book| book.pay(&payment_of_entry(entry, reason, moved)),
        });
        assert!(refused.is_err(), "{what}");
        assert_eq!(env.reserve_points(), 100, "{what}");
    };
    let one = price_for(env, 1, 1);
    refused(Reason::Redemption, &reserve, user_wallet(ann), one, "a redemption is paid by a user");
    refused(Reason::Deposit, &reserve, user_wallet(ann), one, "a deposit comes from outside");
    refused(
        Reason::Recognition,
        &reserve,
        Account::Wallet(WalletType::Peer, ann),
        one,
        "a recognition credits the user wallet",
    );
    let two = Price { each: price_for(env, 2, 1).each, total: price_for(env, 2, 1).total, ..one };
    refused(
        Reason::PointDistribution,
        &reserve,
        user_wallet(ann),
        two,
        "the price of two points is not the price of one",
    );
    let theirs = [Account::Funding(foreign)];
    let free = Price { threshold: Amount::from_nanodollars(-1), ..one };
    refused(
        Reason::Deposit,
        &theirs,
        reserve[0],
        free.with_credit(one.total).unwrap(),
        "another company's account",
    );
    let short = Price { threshold: Amount::ZERO, ..price_for(env, 101, 1) };
    refused(
        Reason::PointDistribution,
        &[Account::Transit(env.company)],
        user_wallet(ann),
        short,
        "the shortfall exceeds the tolerance",
    );
}
