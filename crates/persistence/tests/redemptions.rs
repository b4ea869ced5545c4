//! Redemptions, refunds and overrides: an operator's changes to a wallet (behaviour 17.5, 17.7).

use guerdon_domain::commands::Refusal;
use guerdon_domain::money::PointsPerDollar;
use guerdon_domain::overrides::ReplaceError;
use guerdon_domain::ports::StoreExt as _;
use guerdon_domain::recognitions::{self, Sender, UpdateRecognition};
use guerdon_domain::redemptions::{RedeemError, RefundError};
use guerdon_domain::values::{Message, Page, UserId};
use guerdon_domain::wallets::{Account, Direction, Reason, WalletType};

use crate::support::{World, at_once, on_each};

fn history(world: &World, user: UserId, wallet: WalletType) -> Vec<(Direction, i64, Reason)> {
    let page = Page::new(1, 100).unwrap();
    let found = world.reading(|reads| reads.transactions(Account::Wallet(wallet, user), page));
    found
        .into_iter()
        .map(|transaction| (transaction.direction, transaction.points.get(), transaction.reason))
        .collect()
}

#[test]
fn points_are_redeemed_and_returned_once() {
    on_each(|world| {
        let ann = world.user("ann");
        world.fund(WalletType::User, ann, 100);
        let redemption = world.redeem(ann, 30).unwrap();
        assert_eq!(world.shows(WalletType::User, ann), Some((70, 30)));
        assert_eq!(
            world.database.count("events JOIN deliveries ON id = event_id WHERE kind = 3 AND state = 1"),
            1
        );
        assert!(matches!(world.redeem(ann, 71), Err(Refusal::Redeem(RedeemError::InsufficientFunds))));
        assert!(matches!(world.redeem(ann, 0), Err(Refusal::Redeem(RedeemError::OutOfRange))));
        assert_eq!(world.refund(redemption.id).unwrap(), 30);
        assert!(matches!(world.refund(redemption.id), Err(Refusal::Refund(RefundError::AlreadyRefunded))));
        assert_eq!(
            world.shows(WalletType::User, ann),
            Some((100, 30)),
            "a refund does not reduce the points spent"
        );
        let told = history(world, ann, WalletType::User);
        assert_eq!(told[0], (Direction::Credit, 30, Reason::Refund));
        assert_eq!(told[1], (Direction::Debit, 30, Reason::Redemption));
    });
}

#[test]
fn a_refund_returns_the_money_despite_rate_changes() {
    on_each(|world| {
        let ann = world.user("ann");
        world.fund(WalletType::User, ann, 100);
        let redemption = world.redeem(ann, 100).unwrap();
        world.change_rate(PointsPerDollar::new(25).unwrap());
        assert_eq!(world.refund(redemption.id).unwrap(), 50);
        assert_eq!(world.shows(WalletType::User, ann), Some((50, 50)));
    });
}

#[test]
fn concurrent_refunds_take_effect_once() {
    on_each(|world| {
        let ann = world.user("ann");
        world.fund(WalletType::User, ann, 10);
        let redemption = world.redeem(ann, 10).unwrap();
        at_once(8, |_| drop(world.refund(redemption.id)));
        assert_eq!(world.shows(WalletType::User, ann), Some((10, 10)));
    });
}

#[test]
fn an_override_takes_the_difference_from_the_reserve_or_returns_it() {
    on_each(|world| {
        let ann = world.user("ann");
        world.fund(WalletType::Peer, ann, 40);
        world.deposit(100);
        world.put(ann, WalletType::Peer, 90).unwrap();
        assert_eq!((world.shows(WalletType::Peer, ann), world.reserve()), (Some((90, 0)), 50));
        world.put(ann, WalletType::Peer, 90).unwrap();
        world.put(ann, WalletType::Peer, 0).unwrap();
        assert_eq!((world.shows(WalletType::Peer, ann), world.reserve()), (Some((0, 0)), 140));
        assert!(matches!(
            world.put(ann, WalletType::Peer, 141),
            Err(Refusal::Replace(ReplaceError::InsufficientFunds))
        ));
        assert!(matches!(
            world.put(ann, WalletType::Manager, 1),
            Err(Refusal::Replace(ReplaceError::NoSuchWallet))
        ));
        assert!(matches!(
            world.put(ann, WalletType::User, i64::MAX),
            Err(Refusal::Replace(ReplaceError::OutOfRange))
        ));
        let told = history(world, ann, WalletType::Peer);
        assert_eq!(told[0], (Direction::Debit, 90, Reason::Override));
        assert_eq!(told[1], (Direction::Credit, 50, Reason::Override));
        assert_eq!(told.len(), 3);
    });
}

#[test]
fn concurrent_overrides_and_recognitions_lose_nothing() {
    on_each(|world| {
        let (ann, bob) = (world.user("ann"), world.user("bob"));
        world.fund(WalletType::Peer, ann, 1_000);
        world.deposit(10_000);
        at_once(4, |client| {
            for round in 0..10 {
                if client == 0 {
                    world.put(ann, WalletType::Peer, 500 + round).unwrap();
                } else {
                    drop(world.send(Sender::User(ann), &[bob], 3));
                }
            }
        });
    });
}

#[test]
fn operations_on_a_deleted_user_are_refused() {
    on_each(|world| {
        let ann = world.user("ann");
        world.fund(WalletType::User, ann, 10);
        let redemption = world.redeem(ann, 10).unwrap();
        world.delete(ann).unwrap();
        assert!(matches!(world.redeem(ann, 1), Err(Refusal::Redeem(RedeemError::NoSuchUser))));
        assert!(matches!(world.refund(redemption.id), Err(Refusal::Refund(RefundError::UserDeleted))));
        assert!(matches!(
            world.put(ann, WalletType::User, 1),
            Err(Refusal::Replace(ReplaceError::NoSuchUser))
        ));
    });
}

#[test]
fn a_changed_recognition_emits_an_event() {
    on_each(|world| {
        let (ann, bob) = (world.user("ann"), world.user("bob"));
        world.fund(WalletType::Peer, ann, 10);
        let sent = world.send(Sender::User(ann), &[bob], 1).unwrap();
        world.delete(ann).unwrap();
        let context = world.context();
        let change = |command: &UpdateRecognition| {
            world.store.transaction(|tx| recognitions::update(tx, sent[0].id, command, &context)).unwrap()
        };
        let told = || world.database.count("events WHERE kind = 2");
        assert_eq!(change(&UpdateRecognition::default()), sent[0]);
        let same = UpdateRecognition { message: Some(sent[0].message.clone()), share: Some(true) };
        change(&same);
        assert_eq!(told(), 0, "nothing changed");
        let message = Some(Message::parse("Thanks again").unwrap());
        let changed = change(&UpdateRecognition { message, share: Some(false) });
        assert_eq!((changed.message.as_str(), changed.share), ("Thanks again", false));
        assert_eq!(told(), 1);
        let page = Page::new(1, 9).unwrap();
        let role = guerdon_domain::ports::Role::Receiver;
        assert_eq!(world.reading(|reads| reads.recognitions(bob, role, page)), [changed]);
    });
}

#[test]
fn concurrent_redemptions_and_refunds_lock_in_one_order() {
    on_each(|world| {
        let users: Vec<UserId> = (0..3).map(|number| world.user(&format!("u{number}"))).collect();
        for user in &users {
            world.fund(WalletType::User, *user, 1_000);
        }
        at_once(6, |client| {
            for _ in 0..15 {
                let redeemed = world.redeem(users[client % 3], 3).unwrap();
                world.refund(redeemed.id).unwrap();
            }
        });
        for user in &users {
            assert_eq!(world.shows(WalletType::User, *user), Some((1_000, 90)));
        }
    });
}
