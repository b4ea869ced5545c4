use uuid::Uuid;

use super::*;
use crate::fixture::{COMPANY, points, user_id};
use crate::money::{PointsPerDollar, payment_price};
use crate::values::{JournalEntryId, Timestamp};
use crate::wallets::WalletType;

const PAYER: Account = Account::Reserve(COMPANY);

fn user_wallet(number: u128) -> Account {
    Account::Wallet(WalletType::User, user_id(number))
}

/// A book with a payer that holds the price of four points at the rate of 50, except for a shortfall; an empty
/// rounding account; and two receivers. Each has some entries already.
fn new_book(shortfall: i64, alert_below: Option<Amount>) -> AccountBook {
    let mut book = AccountBook::default();
    let held = Amount::from_nanodollars(price().total.nanodollars() - shortfall);
    let mut open = |account, balance, entry_count, alert_below| {
        let state = AccountState { balance, entry_count, alert_below, ..AccountState::default() };
        book.insert_loaded(account, Some(state));
    };
    open(PAYER, held, 3, alert_below);
    open(Account::Rounding(COMPANY), Amount::ZERO, 5, None);
    open(user_wallet(1), Amount::ZERO, 7, None);
    open(user_wallet(2), Amount::ZERO, 8, None);
    book
}

/// The price of two points for each of two receivers.
fn price() -> Price {
    payment_price(PointsPerDollar::new(50).unwrap(), points(2), 2).unwrap()
}

fn pay_receivers(book: &mut AccountBook) -> PaymentOutcome {
    let credits = [user_wallet(1), user_wallet(2)];
    let payment = Payment {
        company: COMPANY,
        entry_id: JournalEntryId::from_uuid(Uuid::from_u128(7)),
        reason: Reason::Recognition,
        rate: PointsPerDollar::new(50).unwrap(),
        kind: PaymentKind::PricePerReceiver {
            payers: &[PAYER],
            credits: &credits,
            price: price(),
            points: points(2),
        },
        at: Timestamp::UNIX_EPOCH,
    };
    book.pay(&payment).unwrap()
}

/// The debit and the credit of each transfer, each with its sequence number.
fn transfer_sequences(book: &AccountBook) -> Vec<((Account, i64), (Account, i64))> {
    book.transfers().iter().map(|transfer| (transfer.debit, transfer.credit)).collect()
}

fn entry_counts(book: &AccountBook) -> Vec<i64> {
    let accounts = [PAYER, Account::Rounding(COMPANY), user_wallet(1), user_wallet(2)];
    accounts.iter().map(|account| book.account(*account).unwrap().entry_count).collect()
}

#[test]
fn every_entry_of_an_account_has_the_next_sequence_number() {
    let mut book = new_book(0, None);
    pay_receivers(&mut book);
    let expected = [((PAYER, 4), (user_wallet(1), 8)), ((PAYER, 5), (user_wallet(2), 9))];
    assert_eq!(transfer_sequences(&book), expected);
    assert_eq!(entry_counts(&book), [5, 5, 8, 9]);
}

#[test]
fn a_shortfall_within_the_tolerance_is_the_first_entry_of_the_payer() {
    let mut book = new_book(100_000, None);
    pay_receivers(&mut book);
    let rounding = Account::Rounding(COMPANY);
    let expected =
        [((rounding, 6), (PAYER, 4)), ((PAYER, 5), (user_wallet(1), 8)), ((PAYER, 6), (user_wallet(2), 9))];
    assert_eq!(transfer_sequences(&book), expected);
    assert_eq!(entry_counts(&book), [6, 6, 8, 9]);
    assert_eq!(book.account(PAYER).unwrap().balance, Amount::ZERO);
    assert_eq!(book.account(rounding).unwrap().balance, Amount::from_nanodollars(-100_000));
}

#[test]
fn an_alert_is_raised_only_below_the_threshold() {
    let alert_at = |threshold| match pay_receivers(&mut new_book(0, Some(threshold))) {
        PaymentOutcome::Paid(paid) => {
            paid.threshold_crossing.map(|crossing| (crossing.threshold, crossing.balance))
        }
        other => panic!("{other:?}"),
    };
    assert_eq!(alert_at(Amount::ZERO), None, "the balance equals the threshold");
    let least = Amount::from_nanodollars(1);
    assert_eq!(alert_at(least), Some((least, Amount::ZERO)));
    let total = price().total;
    assert_eq!(alert_at(total), Some((total, Amount::ZERO)), "the balance was at the threshold before");
    let more = total.checked_add(least).unwrap();
    assert_eq!(alert_at(more), None, "the balance was below the threshold before");
}
