//! Redeeming, refunding, replacing: what an operator does to a wallet (behaviour 17.5, 17.7).

use guerdon_domain::money::{Points, PointsPerDollar};
use guerdon_domain::overrides::{ReplaceError, replace};
use guerdon_domain::ports::StoreExt as _;
use guerdon_domain::recognitions::{self, Sender, UpdateRecognition};
use guerdon_domain::redemptions::{self, RedeemError, Redemption, RefundError};
use guerdon_domain::values::{Message, Page, UserId};
use guerdon_domain::wallets::{Account, Direction, Reason, WalletType};

use crate::support::{World, at_once, on_each};

fn points(count: i64) -> Points {
    Points::new(count).unwrap()
}

fn redeem(world: &World, user: UserId, count: i64) -> Result<Redemption, RedeemError> {
    let context = world.context();
    world.store.transaction(|tx| redemptions::create(tx, user, points(count), &context))
}

fn refund(world: &World, redemption: &Redemption) -> Result<i64, RefundError> {
    let context = world.context();
    let refunded = world.store.transaction(|tx| redemptions::refund(tx, redemption.id, &context));
    refunded.map(|(_, points)| points.get())
}

fn put(world: &World, user: UserId, wallet: WalletType, count: i64) -> Result<(), ReplaceError> {
    let context = world.context();
    world.store.transaction(|tx| replace(tx, user, wallet, points(count), &context))
}

fn history(world: &World, user: UserId, wallet: WalletType) -> Vec<(Direction, i64, Reason)> {
    let page = Page::new(1, 100).unwrap();
    let found = world.reading(|reads| reads.transactions(Account::Wallet(wallet, user), page));
    found.into_iter().map(|it| (it.direction, it.points.get(), it.reason)).collect()
}

#[test]
fn points_are_redeemed_and_returned_once() {
    on_each(|world| {
        let ann = world.user("ann");
        world.fund(WalletType::User, ann, 100);
        let redemption = redeem(world, ann, 30).unwrap();
        assert_eq!(world.shows(WalletType::User, ann), Some((70, 30)));
        assert_eq!(
            world.database.count("events JOIN deliveries ON id = event_id WHERE kind = 3 AND state = 1"),
            1
        );
        assert!(matches!(redeem(world, ann, 71), Err(RedeemError::InsufficientFunds)));
        assert!(matches!(redeem(world, ann, 0), Err(RedeemError::OutOfRange)));
        assert_eq!(refund(world, &redemption).unwrap(), 30);
        assert!(matches!(refund(world, &redemption), Err(RefundError::AlreadyRefunded)));
        assert_eq!(world.shows(WalletType::User, ann), Some((100, 30)), "a refund unspends nothing");
        let told = history(world, ann, WalletType::User);
        assert_eq!(told[0], (Direction::Credit, 30, Reason::Refund));
        assert_eq!(told[1], (Direction::Debit, 30, Reason::Redemption));
    });
}

#[test]
fn a_refund_returns_the_money_whatever_the_rate_became() {
    on_each(|world| {
        let ann = world.user("ann");
        world.fund(WalletType::User, ann, 100);
        let redemption = redeem(world, ann, 100).unwrap();
        world.change_rate(PointsPerDollar::new(25).unwrap());
        assert_eq!(refund(world, &redemption).unwrap(), 50);
        assert_eq!(world.shows(WalletType::User, ann), Some((50, 50)));
    });
}

#[test]
fn many_refunds_at_once_are_one() {
    on_each(|world| {
        let ann = world.user("ann");
        world.fund(WalletType::User, ann, 10);
        let redemption = redeem(world, ann, 10).unwrap();
        at_once(8, |_| drop(refund(world, &redemption)));
        assert_eq!(world.shows(WalletType::User, ann), Some((10, 10)));
    });
}

#[test]
fn an_override_takes_the_difference_from_the_reserve_or_returns_it() {
    on_each(|world| {
        let ann = world.user("ann");
        world.fund(WalletType::Peer, ann, 40);
        world.deposit(100);
        put(world, ann, WalletType::Peer, 90).unwrap();
        assert_eq!((world.shows(WalletType::Peer, ann), world.reserve()), (Some((90, 0)), 50));
        put(world, ann, WalletType::Peer, 90).unwrap();
        put(world, ann, WalletType::Peer, 0).unwrap();
        assert_eq!((world.shows(WalletType::Peer, ann), world.reserve()), (Some((0, 0)), 140));
        assert!(matches!(put(world, ann, WalletType::Peer, 141), Err(ReplaceError::InsufficientFunds)));
        assert!(matches!(put(world, ann, WalletType::Manager, 1), Err(ReplaceError::NoSuchWallet)));
        assert!(matches!(put(world, ann, WalletType::User, i64::MAX), Err(ReplaceError::OutOfRange)));
        let told = history(world, ann, WalletType::Peer);
        assert_eq!(told[0], (Direction::Debit, 90, Reason::Override));
        assert_eq!(told[1], (Direction::Credit, 50, Reason::Override));
        assert_eq!(told.len(), 3);
    });
}

#[test]
fn overrides_meet_recognitions_and_nothing_is_lost() {
    on_each(|world| {
        let (ann, bob) = (world.user("ann"), world.user("bob"));
        world.fund(WalletType::Peer, ann, 1_000);
        world.deposit(10_000);
        at_once(4, |client| {
            for round in 0..10 {
                if client == 0 {
                    put(world, ann, WalletType::Peer, 500 + round).unwrap();
                } else {
                    drop(world.send(Sender::User(ann), &[bob], 3));
                }
            }
        });
    });
}

#[test]
fn nothing_is_done_for_a_deleted_user() {
    on_each(|world| {
        let ann = world.user("ann");
        world.fund(WalletType::User, ann, 10);
        let redemption = redeem(world, ann, 10).unwrap();
        world.delete(ann).unwrap();
        assert!(matches!(redeem(world, ann, 1), Err(RedeemError::NoSuchUser)));
        assert!(matches!(refund(world, &redemption), Err(RefundError::UserDeleted)));
        assert!(matches!(put(world, ann, WalletType::User, 1), Err(ReplaceError::NoSuchUser)));
    });
}

#[test]
fn a_changed_recognition_tells_of_itself() {
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
fn redemptions_and_refunds_at_once_wait_for_each_other_in_one_order() {
    on_each(|world| {
        let users: Vec<UserId> = (0..3).map(|it| world.user(&format!("u{it}"))).collect();
        for user in &users {
            world.fund(WalletType::User, *user, 1_000);
        }
        at_once(6, |client| {
            for _ in 0..15 {
                let redeemed = redeem(world, users[client % 3], 3).unwrap();
                refund(world, &redeemed).unwrap();
            }
        });
        for user in &users {
            assert_eq!(world.shows(WalletType::User, *user), Some((1_000, 90)));
        }
    });
}
