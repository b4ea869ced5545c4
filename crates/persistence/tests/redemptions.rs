//! Redemptions, refunds and overrides: an operator's changes to a wallet (behaviour 17.5, 17.7).

use guerdon_domain::commands::Refusal;
use guerdon_domain::money::PointsPerDollar;
use guerdon_domain::overrides::OverrideError;
use guerdon_domain::ports::StoreExt as _;
use guerdon_domain::recognitions::{self, Sender, UpdateRecognition};
use guerdon_domain::redemptions::{RedeemError, RefundError};
use guerdon_domain::values::{Message, Page, UserId};
use guerdon_domain::wallets::{Account, Direction, Reason, WalletType};

use crate::support::{LedgerFixture, on_each_database, run_concurrently};

fn wallet_history(
    fixture: &LedgerFixture,
    user: UserId,
    wallet: WalletType,
) -> Vec<(Direction, i64, Reason)> {
    let page = Page::new(1, 100).unwrap();
    let found = fixture.read_snapshot(|reads| reads.list_transactions(Account::Wallet(wallet, user), page));
    found
        .into_iter()
        .map(|transaction| (transaction.direction, transaction.points.get(), transaction.reason))
        .collect()
}

#[test]
fn points_are_redeemed_and_returned_once() {
    on_each_database(|fixture| {
        let ann = fixture.create_user("ann");
        fixture.fund_wallet(WalletType::User, ann, 100);
        let redemption = fixture.redeem_points(ann, 30).unwrap();
        assert_eq!(fixture.wallet_points(WalletType::User, ann), Some((70, 30)));
        assert_eq!(
            fixture
                .database
                .count_rows("events JOIN deliveries ON id = event_id WHERE kind = 3 AND state = 1"),
            1
        );
        assert!(matches!(
            fixture.redeem_points(ann, 71),
            Err(Refusal::Redeem(RedeemError::InsufficientFunds(_)))
        ));
        assert!(matches!(fixture.redeem_points(ann, 0), Err(Refusal::Redeem(RedeemError::OutOfRange))));
        assert_eq!(fixture.refund_redemption(redemption.id).unwrap(), 30);
        assert!(matches!(
            fixture.refund_redemption(redemption.id),
            Err(Refusal::Refund(RefundError::AlreadyRefunded))
        ));
        assert_eq!(
            fixture.wallet_points(WalletType::User, ann),
            Some((100, 30)),
            "a refund does not reduce the points spent"
        );
        let history = wallet_history(fixture, ann, WalletType::User);
        assert_eq!(history[0], (Direction::Credit, 30, Reason::Refund));
        assert_eq!(history[1], (Direction::Debit, 30, Reason::Redemption));
    });
}

#[test]
fn a_refund_returns_the_money_despite_rate_changes() {
    on_each_database(|fixture| {
        let ann = fixture.create_user("ann");
        fixture.fund_wallet(WalletType::User, ann, 100);
        let redemption = fixture.redeem_points(ann, 100).unwrap();
        fixture.change_rate(PointsPerDollar::new(25).unwrap());
        assert_eq!(fixture.refund_redemption(redemption.id).unwrap(), 50);
        assert_eq!(fixture.wallet_points(WalletType::User, ann), Some((50, 50)));
    });
}

#[test]
fn concurrent_refunds_take_effect_once() {
    on_each_database(|fixture| {
        let ann = fixture.create_user("ann");
        fixture.fund_wallet(WalletType::User, ann, 10);
        let redemption = fixture.redeem_points(ann, 10).unwrap();
        run_concurrently(8, |_| drop(fixture.refund_redemption(redemption.id)));
        assert_eq!(fixture.wallet_points(WalletType::User, ann), Some((10, 10)));
    });
}

#[test]
fn an_override_takes_the_difference_from_the_reserve_or_returns_it() {
    on_each_database(|fixture| {
        let ann = fixture.create_user("ann");
        fixture.fund_wallet(WalletType::Peer, ann, 40);
        fixture.deposit_points(100);
        fixture.override_balance(ann, WalletType::Peer, 90).unwrap();
        assert_eq!(
            (fixture.wallet_points(WalletType::Peer, ann), fixture.reserve_points()),
            (Some((90, 0)), 50)
        );
        fixture.override_balance(ann, WalletType::Peer, 90).unwrap();
        fixture.override_balance(ann, WalletType::Peer, 0).unwrap();
        assert_eq!(
            (fixture.wallet_points(WalletType::Peer, ann), fixture.reserve_points()),
            (Some((0, 0)), 140)
        );
        assert!(matches!(
            fixture.override_balance(ann, WalletType::Peer, 141),
            Err(Refusal::Override(OverrideError::InsufficientFunds { .. }))
        ));
        assert!(matches!(
            fixture.override_balance(ann, WalletType::Manager, 1),
            Err(Refusal::Override(OverrideError::NoSuchWallet))
        ));
        assert!(matches!(
            fixture.override_balance(ann, WalletType::User, i64::MAX),
            Err(Refusal::Override(OverrideError::OutOfRange))
        ));
        let history = wallet_history(fixture, ann, WalletType::Peer);
        assert_eq!(history[0], (Direction::Debit, 90, Reason::Override));
        assert_eq!(history[1], (Direction::Credit, 50, Reason::Override));
        assert_eq!(history.len(), 3);
    });
}

#[test]
fn concurrent_overrides_and_recognitions_lose_nothing() {
    on_each_database(|fixture| {
        let (ann, bob) = (fixture.create_user("ann"), fixture.create_user("bob"));
        fixture.fund_wallet(WalletType::Peer, ann, 1_000);
        fixture.deposit_points(10_000);
        run_concurrently(4, |client| {
            for round in 0..10 {
                if client == 0 {
                    fixture.override_balance(ann, WalletType::Peer, 500 + round).unwrap();
                } else {
                    drop(fixture.send_recognition(Sender::User(ann), &[bob], 3));
                }
            }
        });
    });
}

#[test]
fn operations_on_a_deleted_user_are_refused() {
    on_each_database(|fixture| {
        let ann = fixture.create_user("ann");
        fixture.fund_wallet(WalletType::User, ann, 10);
        let redemption = fixture.redeem_points(ann, 10).unwrap();
        fixture.delete_user(ann).unwrap();
        assert!(matches!(fixture.redeem_points(ann, 1), Err(Refusal::Redeem(RedeemError::NoSuchUser))));
        assert!(matches!(
            fixture.refund_redemption(redemption.id),
            Err(Refusal::Refund(RefundError::UserDeleted))
        ));
        assert!(matches!(
            fixture.override_balance(ann, WalletType::User, 1),
            Err(Refusal::Override(OverrideError::NoSuchUser))
        ));
    });
}

#[test]
fn a_changed_recognition_emits_an_event() {
    on_each_database(|fixture| {
        let (ann, bob) = (fixture.create_user("ann"), fixture.create_user("bob"));
        fixture.fund_wallet(WalletType::Peer, ann, 10);
        let sent = fixture.send_recognition(Sender::User(ann), &[bob], 1).unwrap();
        fixture.delete_user(ann).unwrap();
        let context = fixture.context();
        let change = |update: &UpdateRecognition| {
            fixture.store.transaction(|tx| recognitions::update(tx, sent[0].id, update, &context)).unwrap()
        };
        let event_count = || fixture.database.count_rows("events WHERE kind = 2");
        assert_eq!(change(&UpdateRecognition::default()), sent[0]);
        let same = UpdateRecognition { message: Some(sent[0].message.clone()), share: Some(true) };
        change(&same);
        assert_eq!(event_count(), 0, "nothing changed");
        let message = Some(Message::parse("Thanks again").unwrap());
        let changed = change(&UpdateRecognition { message, share: Some(false) });
        assert_eq!((changed.message.as_str(), changed.share), ("Thanks again", false));
        assert_eq!(event_count(), 1);
        let page = Page::new(1, 9).unwrap();
        let role = guerdon_domain::ports::Role::Receiver;
        assert_eq!(fixture.read_snapshot(|reads| reads.list_recognitions(bob, role, page)), [changed]);
    });
}

#[test]
fn concurrent_redemptions_and_refunds_lock_in_one_order() {
    on_each_database(|fixture| {
        let users: Vec<UserId> = (0..3).map(|number| fixture.create_user(&format!("u{number}"))).collect();
        for user in &users {
            fixture.fund_wallet(WalletType::User, *user, 1_000);
        }
        run_concurrently(6, |client| {
            for _ in 0..15 {
                let redeemed = fixture.redeem_points(users[client % 3], 3).unwrap();
                fixture.refund_redemption(redeemed.id).unwrap();
            }
        });
        for user in &users {
            assert_eq!(fixture.wallet_points(WalletType::User, *user), Some((1_000, 90)));
        }
    });
}
