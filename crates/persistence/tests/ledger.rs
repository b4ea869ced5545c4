//! Which points each operation moves, and which rows it writes.

use guerdon_domain::commands::Refusal;
use guerdon_domain::companies::UpdateCompany;
use guerdon_domain::money::{Points, PointsPerDollar};
use guerdon_domain::ports::{ProviderChange, StoreExt as _};
use guerdon_domain::providers;
use guerdon_domain::recognitions::{SendError, SendFault, Sender};
use guerdon_domain::reserve::ReserveError;
use guerdon_domain::users::DeleteUserError;
use guerdon_domain::values::{EmailAddress, Page, Update};
use guerdon_domain::wallets::{Account, Direction, Reason, WalletType};
use guerdon_persistence::testing::each;

use crate::support::{World, on_each};

#[test]
fn a_company_pays_from_its_reserve_and_a_user_from_the_peer_wallet() {
    on_each(|world| {
        let (ann, bob) = (world.user("ann"), world.user("bob"));
        world.deposit(100);
        world.send(Sender::Company(world.company), &[ann, bob], 10).unwrap();
        assert_eq!(world.reserve(), 80);
        assert_eq!(world.shows(WalletType::User, ann), Some((10, 0)));
        world.fund(WalletType::Peer, ann, 30);
        world.send(Sender::User(ann), &[bob], 25).unwrap();
        assert_eq!(world.shows(WalletType::Peer, ann), Some((5, 25)));
        assert_eq!(world.shows(WalletType::User, bob), Some((35, 0)));
        assert_eq!(world.shows(WalletType::Manager, bob), None);
    });
}

#[test]
fn a_payment_never_combines_two_wallets() {
    on_each(|world| {
        let boss = world.user_with("boss", |profile| profile.manager = true);
        let ann = world.user("ann");
        world.fund(WalletType::Peer, boss, 10);
        world.fund(WalletType::Manager, boss, 15);
        assert!(matches!(world.send(Sender::User(boss), &[ann], 20), Err(SendError::InsufficientFunds)));
        world.send(Sender::User(boss), &[ann], 12).unwrap();
        assert_eq!(world.shows(WalletType::Peer, boss), Some((10, 0)));
        assert_eq!(world.shows(WalletType::Manager, boss), Some((3, 12)));
        world.send(Sender::User(boss), &[ann], 10).unwrap();
        assert_eq!(world.shows(WalletType::Peer, boss), Some((0, 10)));
        assert_eq!(world.shows(WalletType::User, ann), Some((22, 0)));
    });
}

#[test]
fn a_refused_recognition_writes_nothing() {
    on_each(|world| {
        let (ann, bob) = (world.user("ann"), world.user("bob"));
        world.deposit(19);
        let refused = world.send(Sender::Company(world.company), &[ann, bob], 10);
        assert!(matches!(refused, Err(SendError::InsufficientFunds)));
        assert_eq!(world.reserve(), 19);
        assert_eq!(world.shows(WalletType::User, ann), Some((0, 0)));
        let page = Page::new(1, 100).unwrap();
        assert_eq!(
            world.reading(|reads| reads.transactions(Account::Wallet(WalletType::User, ann), page)),
            []
        );
        assert_eq!(world.database.count("events"), 0);
        assert_eq!(world.database.count("recognitions"), 0);
        assert_eq!(world.database.count("transfers WHERE reason = 1"), 0);
    });
}

#[test]
fn each_receiver_has_a_recognition_a_transfer_and_an_event() {
    on_each(|world| {
        let users: Vec<_> = (0..5).map(|n| world.user(&format!("u{n}"))).collect();
        world.deposit(100);
        let sent = world.send(Sender::Company(world.company), &users, 10).unwrap();
        let receivers: Vec<_> = sent.iter().map(|recognition| recognition.receiver_id).collect();
        assert_eq!(receivers, users, "in the order of the receivers");
        assert_eq!(world.database.count("recognitions"), 5);
        assert_eq!(world.database.count("transfers WHERE reason = 1"), 5);
        assert_eq!(world.database.count("deliveries WHERE state = 1 AND next_attempt_at IS NOT NULL"), 5);
        let unaddressed = ProviderChange { callback_url: Update::Clear, ..ProviderChange::default() };
        world
            .store
            .transaction(|tx| providers::change(tx, world.provider, &unaddressed, &world.context()))
            .unwrap();
        world.send(Sender::Company(world.company), &users[..2], 10).unwrap();
        assert_eq!(world.database.count("deliveries WHERE state = 4 AND next_attempt_at IS NULL"), 2);
    });
}

#[test]
fn the_reserve_alert_is_sent_once_per_crossing_to_each_administrator_and_the_bcc() {
    on_each(|world| {
        let alert = UpdateCompany {
            reserve_alert: Update::Set(Points::new(50).unwrap()),
            reserve_bcc: Update::Set(EmailAddress::parse("bcc@example.com").unwrap()),
            ..UpdateCompany::default()
        };
        world.update(&alert).unwrap();
        assert_eq!(
            world.database.count("mails"),
            2,
            "setting a first threshold above the reserve is a crossing"
        );
        world.deposit(50);
        let swept = "DELETE FROM mails";
        world.database.tamper(swept, swept);
        let ann = world.user("ann");
        world.user_with("boss", |profile| profile.company_admin = true);
        world.delete(world.user_with("former", |profile| profile.company_admin = true)).unwrap();
        let give = |points: i64| world.send(Sender::Company(world.company), &[ann], points).unwrap();
        world.deposit(50);
        give(50);
        assert_eq!(world.database.count("mails"), 0, "50 is not below 50");
        give(1);
        assert_eq!(world.database.count("mails"), 3, "the owner, the other administrator, the bcc");
        give(1);
        assert_eq!(world.database.count("mails"), 3, "already below");
        world.deposit(2);
        give(1);
        assert_eq!(world.database.count("mails"), 6, "a separate crossing");
        assert_eq!(world.database.count("mails WHERE recipient = 'bcc@example.com'"), 2);
        world.deposit(51);
        let rate = PointsPerDollar::new(10).unwrap();
        world.change_rate(rate);
        assert_eq!(world.database.count("mails"), 9, "a new rate crosses too");
    });
}

#[test]
fn deleting_a_user_returns_its_funds_once() {
    on_each(|world| {
        let (ann, bob) = (world.user("ann"), world.user("bob"));
        world.fund(WalletType::Peer, ann, 30);
        world.fund(WalletType::User, ann, 7);
        world.delete(ann).unwrap();
        world.delete(ann).unwrap();
        assert_eq!(world.reserve(), 37);
        assert_eq!(world.shows(WalletType::Peer, ann), Some((0, 30)));
        assert_eq!(world.shows(WalletType::User, ann), Some((0, 7)));
        let page = Page::new(1, 100).unwrap();
        let history = world.reading(|reads| reads.transactions(Account::Wallet(WalletType::Peer, ann), page));
        let seen: Vec<_> = history
            .iter()
            .map(|transaction| (transaction.direction, transaction.points.get(), transaction.reason))
            .collect();
        let expected =
            [(Direction::Debit, 30, Reason::UserDeleted), (Direction::Credit, 30, Reason::PointDistribution)];
        assert_eq!(seen, expected);
        let to_deleted = world.send(Sender::User(bob), &[ann], 1);
        assert!(matches!(
            to_deleted,
            Err(SendError::Faults(faults)) if matches!(faults[..], [SendFault::ReceiverDeleted(_)])
        ));
        let from_deleted = world.send(Sender::User(ann), &[bob], 1);
        assert!(
            matches!(from_deleted, Err(SendError::Faults(faults)) if faults == [SendFault::SenderDeleted])
        );
        assert!(matches!(world.delete(world.owner), Err(DeleteUserError::IsOwner)));
    });
}

#[test]
fn a_company_receives_at_most_nine_billion_dollars_in_total() {
    for database in each() {
        let world = World::at_rate(database, 1);
        let deposit = |points| world.try_deposit(points);
        let out_of_range = |result| matches!(result, Err(Refusal::Reserve(ReserveError::DepositOutOfRange)));
        assert!(out_of_range(deposit(9_000_000_001)));
        assert!(out_of_range(deposit(i64::MAX)));
        assert_eq!(deposit(9_000_000_000).unwrap(), 9_000_000_000);
        assert!(out_of_range(deposit(1)), "regardless of earlier payments");
        assert_eq!(world.reserve(), 9_000_000_000);
        assert_eq!(world.audit(), []);
    }
}

#[test]
fn transactions_page_newest_first() {
    on_each(|world| {
        let (ann, bob) = (world.user("ann"), world.user("bob"));
        world.fund(WalletType::Peer, ann, 100);
        for points in 1..=6 {
            world.send(Sender::User(ann), &[bob], points).unwrap();
        }
        let page = |number| {
            let page = Page::new(number, 4).unwrap();
            let found =
                world.reading(|reads| reads.transactions(Account::Wallet(WalletType::Peer, ann), page));
            found.iter().map(|transaction| transaction.points.get()).collect::<Vec<_>>()
        };
        assert_eq!(page(1), [6, 5, 4, 3]);
        assert_eq!(page(2), [2, 1, 100]);
        assert_eq!(page(3), Vec::<i64>::new());
        assert_eq!(page(i64::MAX), Vec::<i64>::new());
    });
}

#[test]
fn displayed_points_can_be_paid_in_any_split_at_an_inexact_rate() {
    for rate in [3, 7, 60, 9_999, 7_000] {
        for database in each() {
            let world = World::at_rate(database, rate);
            let users: Vec<_> = (0..7).map(|n| world.user(&format!("u{n}"))).collect();
            world.deposit(7);
            world.send(Sender::Company(world.company), &users, 1).unwrap();
            assert_eq!(world.reserve(), 0, "rate {rate}");
            for user in &users {
                assert_eq!(world.shows(WalletType::User, *user), Some((1, 0)), "rate {rate}");
            }
            world.fund(WalletType::Peer, users[0], 11);
            world.send(Sender::User(users[0]), &users[1..3], 4).unwrap();
            world.send(Sender::User(users[0]), &users[3..6], 1).unwrap();
            assert_eq!(world.shows(WalletType::Peer, users[0]), Some((0, 11)), "rate {rate}");
            let refused = world.send(Sender::User(users[0]), &users[1..2], 1);
            assert!(matches!(refused, Err(SendError::InsufficientFunds)));
            assert_eq!(world.audit(), []);
        }
    }
}

#[test]
fn a_new_rate_changes_what_balances_show_and_moves_nothing() {
    on_each(|world| {
        let ann = world.user("ann");
        world.fund(WalletType::Peer, ann, 100);
        let rate = PointsPerDollar::new(25).unwrap();
        world.change_rate(rate);
        assert_eq!(world.shows(WalletType::Peer, ann), Some((50, 0)));
        let page = Page::new(1, 1).unwrap();
        let history = world.reading(|reads| reads.transactions(Account::Wallet(WalletType::Peer, ann), page));
        assert_eq!(history[0].points.get(), 100);
    });
}

#[test]
fn an_allowed_recognition_of_zero_points_moves_nothing() {
    on_each(|world| {
        let ann = world.user("ann");
        let sent = world.send(Sender::Company(world.company), &[ann], 0);
        assert!(matches!(
            sent,
            Err(SendError::Faults(faults)) if matches!(faults[..], [SendFault::PointsOutOfRange(_)])
        ));
        let allow = |tx: &mut dyn guerdon_domain::ports::Tx| {
            guerdon_domain::companies::set_allow_zero_points(tx, world.company, true, &world.context())
        };
        world.store.transaction(allow).unwrap();
        assert_eq!(world.send(Sender::Company(world.company), &[ann], 0).unwrap().len(), 1);
        let page = Page::new(1, 1).unwrap();
        assert_eq!(
            world.reading(|reads| reads.transactions(Account::Wallet(WalletType::User, ann), page)),
            []
        );
    });
}
