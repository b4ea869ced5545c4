//! Which points each operation moves, and which rows it writes.

use guerdon_domain::commands::Refusal;
use guerdon_domain::companies::UpdateCompany;
use guerdon_domain::money::{Points, PointsPerDollar};
use guerdon_domain::ports::StoreExt as _;
use guerdon_domain::providers::{self, UpdateProvider};
use guerdon_domain::recognitions::{SendError, SendFault, Sender};
use guerdon_domain::reserve::ReserveError;
use guerdon_domain::users::DeleteUserError;
use guerdon_domain::values::{EmailAddress, Page, Update};
use guerdon_domain::wallets::{Account, Direction, Reason, WalletType};
use guerdon_persistence::testing::create_databases;

use crate::support::{LedgerFixture, on_each_database};

#[test]
fn a_company_pays_from_its_reserve_and_a_user_from_the_peer_wallet() {
    on_each_database(|fixture| {
        let (ann, bob) = (fixture.create_user("ann"), fixture.create_user("bob"));
        fixture.deposit_points(100);
        fixture.send_recognition(Sender::Company(fixture.company), &[ann, bob], 10).unwrap();
        assert_eq!(fixture.reserve_points(), 80);
        assert_eq!(fixture.wallet_points(WalletType::User, ann), Some((10, 0)));
        fixture.fund_wallet(WalletType::Peer, ann, 30);
        fixture.send_recognition(Sender::User(ann), &[bob], 25).unwrap();
        assert_eq!(fixture.wallet_points(WalletType::Peer, ann), Some((5, 25)));
        assert_eq!(fixture.wallet_points(WalletType::User, bob), Some((35, 0)));
        assert_eq!(fixture.wallet_points(WalletType::Manager, bob), None);
    });
}

#[test]
fn a_payment_never_combines_two_wallets() {
    on_each_database(|fixture| {
        let boss = fixture.create_user_with("boss", |profile| profile.manager = true);
        let ann = fixture.create_user("ann");
        fixture.fund_wallet(WalletType::Peer, boss, 10);
        fixture.fund_wallet(WalletType::Manager, boss, 15);
        assert!(matches!(
            fixture.send_recognition(Sender::User(boss), &[ann], 20),
            Err(SendError::InsufficientFunds)
        ));
        fixture.send_recognition(Sender::User(boss), &[ann], 12).unwrap();
        assert_eq!(fixture.wallet_points(WalletType::Peer, boss), Some((10, 0)));
        assert_eq!(fixture.wallet_points(WalletType::Manager, boss), Some((3, 12)));
        fixture.send_recognition(Sender::User(boss), &[ann], 10).unwrap();
        assert_eq!(fixture.wallet_points(WalletType::Peer, boss), Some((0, 10)));
        assert_eq!(fixture.wallet_points(WalletType::User, ann), Some((22, 0)));
    });
}

#[test]
fn a_refused_recognition_writes_nothing() {
    on_each_database(|fixture| {
        let (ann, bob) = (fixture.create_user("ann"), fixture.create_user("bob"));
        fixture.deposit_points(19);
        let refused = fixture.send_recognition(Sender::Company(fixture.company), &[ann, bob], 10);
        assert!(matches!(refused, Err(SendError::InsufficientFunds)));
        assert_eq!(fixture.reserve_points(), 19);
        assert_eq!(fixture.wallet_points(WalletType::User, ann), Some((0, 0)));
        let page = Page::new(1, 100).unwrap();
        assert_eq!(
            fixture
                .read_snapshot(|reads| reads.list_transactions(Account::Wallet(WalletType::User, ann), page)),
            []
        );
        assert_eq!(fixture.database.count_rows("events"), 0);
        assert_eq!(fixture.database.count_rows("recognitions"), 0);
        assert_eq!(fixture.database.count_rows("transfers WHERE reason = 1"), 0);
    });
}

#[test]
fn each_receiver_has_a_recognition_a_transfer_and_an_event() {
    on_each_database(|fixture| {
        let users: Vec<_> = (0..5).map(|n| fixture.create_user(&format!("u{n}"))).collect();
        fixture.deposit_points(100);
        let sent = fixture.send_recognition(Sender::Company(fixture.company), &users, 10).unwrap();
        let receivers: Vec<_> = sent.iter().map(|recognition| recognition.receiver_id).collect();
        assert_eq!(receivers, users, "in the order of the receivers");
        assert_eq!(fixture.database.count_rows("recognitions"), 5);
        assert_eq!(fixture.database.count_rows("transfers WHERE reason = 1"), 5);
        assert_eq!(
            fixture.database.count_rows("deliveries WHERE state = 1 AND next_attempt_at IS NOT NULL"),
            5
        );
        let unaddressed = UpdateProvider { callback_url: Update::Clear, ..UpdateProvider::default() };
        fixture
            .store
            .transaction(|tx| providers::update(tx, fixture.provider, &unaddressed, &fixture.context()))
            .unwrap();
        fixture.send_recognition(Sender::Company(fixture.company), &users[..2], 10).unwrap();
        assert_eq!(fixture.database.count_rows("deliveries WHERE state = 4 AND next_attempt_at IS NULL"), 2);
    });
}

#[test]
fn the_reserve_alert_is_sent_once_per_crossing_to_each_administrator_and_the_bcc() {
    on_each_database(|fixture| {
        let alert = UpdateCompany {
            reserve_alert: Update::Set(Points::new(50).unwrap()),
            reserve_bcc: Update::Set(EmailAddress::parse("bcc@example.com").unwrap()),
            ..UpdateCompany::default()
        };
        fixture.update_company(&alert).unwrap();
        assert_eq!(
            fixture.database.count_rows("notifications"),
            2,
            "setting a first threshold above the reserve is a crossing"
        );
        fixture.deposit_points(50);
        let swept = "DELETE FROM notifications";
        fixture.database.execute_sql(swept, swept);
        let ann = fixture.create_user("ann");
        fixture.create_user_with("boss", |profile| profile.company_admin = true);
        fixture
            .delete_user(fixture.create_user_with("former", |profile| profile.company_admin = true))
            .unwrap();
        let give =
            |points: i64| fixture.send_recognition(Sender::Company(fixture.company), &[ann], points).unwrap();
        fixture.deposit_points(50);
        give(50);
        assert_eq!(fixture.database.count_rows("notifications"), 0, "50 is not below 50");
        give(1);
        assert_eq!(
            fixture.database.count_rows("notifications"),
            3,
            "the owner, the other administrator, the bcc"
        );
        give(1);
        assert_eq!(fixture.database.count_rows("notifications"), 3, "already below");
        fixture.deposit_points(2);
        give(1);
        assert_eq!(fixture.database.count_rows("notifications"), 6, "a separate crossing");
        assert_eq!(fixture.database.count_rows("notifications WHERE recipient = 'bcc@example.com'"), 2);
        fixture.deposit_points(51);
        let rate = PointsPerDollar::new(10).unwrap();
        fixture.change_rate(rate);
        assert_eq!(fixture.database.count_rows("notifications"), 9, "low at the new rate");
    });
}

#[test]
fn deleting_a_user_returns_its_funds_once() {
    on_each_database(|fixture| {
        let (ann, bob) = (fixture.create_user("ann"), fixture.create_user("bob"));
        fixture.fund_wallet(WalletType::Peer, ann, 30);
        fixture.fund_wallet(WalletType::User, ann, 7);
        fixture.delete_user(ann).unwrap();
        fixture.delete_user(ann).unwrap();
        assert_eq!(fixture.reserve_points(), 37);
        assert_eq!(fixture.wallet_points(WalletType::Peer, ann), Some((0, 30)));
        assert_eq!(fixture.wallet_points(WalletType::User, ann), Some((0, 7)));
        let page = Page::new(1, 100).unwrap();
        let history = fixture
            .read_snapshot(|reads| reads.list_transactions(Account::Wallet(WalletType::Peer, ann), page));
        let seen: Vec<_> = history
            .iter()
            .map(|transaction| (transaction.direction, transaction.points.get(), transaction.reason))
            .collect();
        let expected =
            [(Direction::Debit, 30, Reason::UserDeleted), (Direction::Credit, 30, Reason::PointDistribution)];
        assert_eq!(seen, expected);
        let to_deleted = fixture.send_recognition(Sender::User(bob), &[ann], 1);
        assert!(matches!(
            to_deleted,
            Err(SendError::Faults(faults)) if matches!(faults[..], [SendFault::ReceiverDeleted(_)])
        ));
        let from_deleted = fixture.send_recognition(Sender::User(ann), &[bob], 1);
        assert!(
            matches!(from_deleted, Err(SendError::Faults(faults)) if faults == [SendFault::SenderDeleted])
        );
        assert!(matches!(fixture.delete_user(fixture.owner), Err(DeleteUserError::IsOwner)));
    });
}

#[test]
fn a_company_receives_at_most_nine_billion_dollars_in_total() {
    for database in create_databases() {
        let fixture = LedgerFixture::with_rate(database, 1);
        let deposit = |points| fixture.try_deposit(points);
        let out_of_range = |result| matches!(result, Err(Refusal::Reserve(ReserveError::DepositOutOfRange)));
        assert!(out_of_range(deposit(9_000_000_001)));
        assert!(out_of_range(deposit(i64::MAX)));
        assert_eq!(deposit(9_000_000_000).unwrap(), 9_000_000_000);
        assert!(out_of_range(deposit(1)), "regardless of earlier payments");
        assert_eq!(fixture.reserve_points(), 9_000_000_000);
        assert_eq!(fixture.audit_ledger(), []);
    }
}

#[test]
fn transactions_page_newest_first() {
    on_each_database(|fixture| {
        let (ann, bob) = (fixture.create_user("ann"), fixture.create_user("bob"));
        fixture.fund_wallet(WalletType::Peer, ann, 100);
        for points in 1..=6 {
            fixture.send_recognition(Sender::User(ann), &[bob], points).unwrap();
        }
        let page = |number| {
            let page = Page::new(number, 4).unwrap();
            let found = fixture
                .read_snapshot(|reads| reads.list_transactions(Account::Wallet(WalletType::Peer, ann), page));
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
        for database in create_databases() {
            let fixture = LedgerFixture::with_rate(database, rate);
            let users: Vec<_> = (0..7).map(|n| fixture.create_user(&format!("u{n}"))).collect();
            fixture.deposit_points(7);
            fixture.send_recognition(Sender::Company(fixture.company), &users, 1).unwrap();
            assert_eq!(fixture.reserve_points(), 0, "rate {rate}");
            for user in &users {
                assert_eq!(fixture.wallet_points(WalletType::User, *user), Some((1, 0)), "rate {rate}");
            }
            fixture.fund_wallet(WalletType::Peer, users[0], 11);
            fixture.send_recognition(Sender::User(users[0]), &users[1..3], 4).unwrap();
            fixture.send_recognition(Sender::User(users[0]), &users[3..6], 1).unwrap();
            assert_eq!(fixture.wallet_points(WalletType::Peer, users[0]), Some((0, 11)), "rate {rate}");
            let refused = fixture.send_recognition(Sender::User(users[0]), &users[1..2], 1);
            assert!(matches!(refused, Err(SendError::InsufficientFunds)));
            assert_eq!(fixture.audit_ledger(), []);
        }
    }
}

#[test]
fn a_new_rate_changes_what_balances_show_and_moves_nothing() {
    on_each_database(|fixture| {
        let ann = fixture.create_user("ann");
        fixture.fund_wallet(WalletType::Peer, ann, 100);
        let rate = PointsPerDollar::new(25).unwrap();
        fixture.change_rate(rate);
        assert_eq!(fixture.wallet_points(WalletType::Peer, ann), Some((50, 0)));
        let page = Page::new(1, 1).unwrap();
        let history = fixture
            .read_snapshot(|reads| reads.list_transactions(Account::Wallet(WalletType::Peer, ann), page));
        assert_eq!(history[0].points.get(), 100);
    });
}

#[test]
fn an_allowed_recognition_of_zero_points_moves_nothing() {
    on_each_database(|fixture| {
        let ann = fixture.create_user("ann");
        let sent = fixture.send_recognition(Sender::Company(fixture.company), &[ann], 0);
        assert!(matches!(
            sent,
            Err(SendError::Faults(faults)) if matches!(faults[..], [SendFault::PointsOutOfRange(_)])
        ));
        let allow = |tx: &mut dyn guerdon_domain::ports::Tx| {
            guerdon_domain::companies::set_allow_zero_points(tx, fixture.company, true, &fixture.context())
        };
        fixture.store.transaction(allow).unwrap();
        assert_eq!(fixture.send_recognition(Sender::Company(fixture.company), &[ann], 0).unwrap().len(), 1);
        let page = Page::new(1, 1).unwrap();
        assert_eq!(
            fixture
                .read_snapshot(|reads| reads.list_transactions(Account::Wallet(WalletType::User, ann), page)),
            []
        );
    });
}
