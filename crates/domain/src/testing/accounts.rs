//! Movements between accounts, through the use cases.

use super::world::{World, page, points, profile};
use crate::events::EventKind;
use crate::money::Sum;
use crate::overrides::ReplaceError;
use crate::recognitions::{SendError, SendFault, Sender};
use crate::redemptions::{Redeem, RedeemError, Redemption, Refund, RefundError};
use crate::values::{RedemptionId, UserId};
use crate::wallets::{Account, Direction, Reason, WalletType};

fn redeem(world: &World<'_>, user: UserId, count: i64) -> Result<Redemption, RedeemError> {
    let sum = Sum::Points(points(count));
    world.carry_out(&Redeem { user_id: user, sum }).map(|(redemption, _)| redemption)
}

fn refund(world: &World<'_>, id: RedemptionId) -> Result<i64, RefundError> {
    world.carry_out(&Refund(id)).map(|(_, wallet)| wallet.points.get())
}

fn history(world: &World<'_>, user: UserId, wallet: WalletType) -> Vec<(Direction, i64, Reason)> {
    let found = world.read(|tx| tx.transactions(Account::Wallet(wallet, user), page(1, 100)));
    found.into_iter().map(|line| (line.direction, line.points.get(), line.reason)).collect()
}

pub(super) fn a_company_pays_from_its_reserve_and_a_user_from_the_peer_wallet(world: &World<'_>) {
    let (ann, bob) = (world.user("ann"), world.user("bob"));
    world.deposit(100).unwrap();
    world.give(Sender::Company(world.company), &[ann, bob], 10).unwrap();
    assert_eq!(world.reserve(), 80);
    world.put(WalletType::Peer, ann, 30).unwrap();
    world.give(Sender::User(ann), &[bob], 25).unwrap();
    assert_eq!(world.shows(WalletType::Peer, ann), Some((5, 25)));
    assert_eq!(world.shows(WalletType::User, ann), Some((10, 0)), "what was earned is not sent");
    assert_eq!(world.shows(WalletType::User, bob), Some((35, 0)));
    assert_eq!(world.shows(WalletType::Manager, bob), None);
}

pub(super) fn one_recognition_is_paid_from_one_wallet(world: &World<'_>) {
    let mut boss = profile("boss");
    boss.manager = true;
    let (boss, ann) = (world.user_of(&boss).id, world.user("ann"));
    world.fund(WalletType::Peer, boss, 10);
    world.fund(WalletType::Manager, boss, 15);
    let refused = world.give(Sender::User(boss), &[ann], 20);
    assert!(matches!(refused, Err(SendError::InsufficientFunds)));
    world.give(Sender::User(boss), &[ann], 12).unwrap();
    assert_eq!(world.shows(WalletType::Peer, boss), Some((10, 0)));
    assert_eq!(world.shows(WalletType::Manager, boss), Some((3, 12)));
    world.give(Sender::User(boss), &[ann], 10).unwrap();
    assert_eq!(world.shows(WalletType::Peer, boss), Some((0, 10)));
}

pub(super) fn the_last_point_can_be_paid_and_none_beyond(world: &World<'_>) {
    let (ann, bob) = (world.user("ann"), world.user("bob"));
    world.deposit(19).unwrap();
    let both = world.give(Sender::Company(world.company), &[ann, bob], 10);
    assert!(matches!(both, Err(SendError::InsufficientFunds)));
    assert_eq!((world.reserve(), world.shows(WalletType::User, ann)), (19, Some((0, 0))));
    assert_eq!(history(world, ann, WalletType::User), []);
    assert_eq!(world.bench.events(EventKind::RecognitionReceived), 0);
    world.give(Sender::Company(world.company), &[ann], 19).unwrap();
    assert_eq!(world.reserve(), 0);
    let refused = world.give(Sender::Company(world.company), &[ann], 1);
    assert!(matches!(refused, Err(SendError::InsufficientFunds)));
}

pub(super) fn shown_points_can_be_paid_in_any_split(world: &World<'_>) {
    for rate in [7, 3, 60, 9_999, 7_000] {
        world.set_rate(rate);
        let users: Vec<UserId> = (0..7).map(|number| world.user(&format!("u{rate}-{number}"))).collect();
        world.deposit(7).unwrap();
        world.give(Sender::Company(world.company), &users, 1).unwrap();
        assert_eq!(world.reserve(), 0, "rate {rate}");
        for user in &users {
            assert_eq!(world.shows(WalletType::User, *user), Some((1, 0)), "rate {rate}");
        }
        world.fund(WalletType::Peer, users[0], 11);
        world.give(Sender::User(users[0]), &users[1..3], 4).unwrap();
        world.give(Sender::User(users[0]), &users[3..6], 1).unwrap();
        assert_eq!(world.shows(WalletType::Peer, users[0]), Some((0, 11)), "rate {rate}");
        let refused = world.give(Sender::User(users[0]), &users[1..2], 1);
        assert!(matches!(refused, Err(SendError::InsufficientFunds)), "rate {rate}");
        let told = history(world, users[0], WalletType::Peer);
        assert!(told.iter().all(|line| line.2 != Reason::Rounding), "rate {rate}");
    }
}

pub(super) fn a_new_rate_changes_only_the_points_shown(world: &World<'_>) {
    let ann = world.user("ann");
    world.fund(WalletType::Peer, ann, 100);
    world.set_rate(25);
    assert_eq!(world.shows(WalletType::Peer, ann), Some((50, 0)));
    assert_eq!(history(world, ann, WalletType::Peer), [(Direction::Credit, 100, Reason::Override)]);
}

pub(super) fn the_funds_of_a_deleted_user_return_once(world: &World<'_>) {
    world.set_rate(7);
    let ann = world.user("ann");
    world.fund(WalletType::Peer, ann, 30);
    world.fund(WalletType::User, ann, 8);
    world.delete(ann).unwrap();
    world.delete(ann).unwrap();
    assert_eq!(world.reserve(), 38);
    assert_eq!(world.shows(WalletType::Peer, ann), Some((0, 30)));
    assert_eq!(world.shows(WalletType::User, ann), Some((0, 8)));
    let expected = [(Direction::Debit, 30, Reason::UserDeleted), (Direction::Credit, 30, Reason::Override)];
    assert_eq!(history(world, ann, WalletType::Peer), expected);
    let poor = world.user("poor");
    world.delete(poor).unwrap();
    assert_eq!((world.reserve(), history(world, poor, WalletType::Peer)), (38, Vec::new()));
}

pub(super) fn a_deleted_user_neither_sends_nor_receives(world: &World<'_>) {
    let (ann, bob) = (world.user("ann"), world.user("bob"));
    world.fund(WalletType::User, ann, 10);
    let redemption = redeem(world, ann, 10).unwrap();
    world.delete(ann).unwrap();
    let to = world.give(Sender::User(bob), &[ann], 1);
    assert!(matches!(to, Err(SendError::Faults(it)) if matches!(it[..], [SendFault::ReceiverDeleted(_)])));
    let from = world.give(Sender::User(ann), &[bob], 1);
    assert!(matches!(from, Err(SendError::Faults(faults)) if faults == [SendFault::SenderDeleted]));
    assert!(matches!(redeem(world, ann, 1), Err(RedeemError::NoSuchUser)));
    assert!(matches!(refund(world, redemption.id), Err(RefundError::UserDeleted)));
    assert!(matches!(world.put(WalletType::User, ann, 1), Err(ReplaceError::NoSuchUser)));
}

pub(super) fn an_override_moves_the_difference_from_or_to_the_reserve(world: &World<'_>) {
    let ann = world.user("ann");
    world.deposit(140).unwrap();
    world.put(WalletType::Peer, ann, 90).unwrap();
    assert_eq!((world.shows(WalletType::Peer, ann), world.reserve()), (Some((90, 0)), 50));
    world.put(WalletType::Peer, ann, 90).unwrap();
    world.put(WalletType::Peer, ann, 0).unwrap();
    assert_eq!((world.shows(WalletType::Peer, ann), world.reserve()), (Some((0, 0)), 140));
    assert!(matches!(world.put(WalletType::Peer, ann, 141), Err(ReplaceError::InsufficientFunds)));
    assert!(matches!(world.put(WalletType::Manager, ann, 1), Err(ReplaceError::NoSuchWallet)));
    assert!(matches!(world.put(WalletType::User, ann, i64::MAX), Err(ReplaceError::OutOfRange)));
    let nobody = UserId::from_uuid(world.uuid());
    assert!(matches!(world.put(WalletType::User, nobody, 1), Err(ReplaceError::NoSuchUser)));
    let expected = [(Direction::Debit, 90, Reason::Override), (Direction::Credit, 90, Reason::Override)];
    assert_eq!(history(world, ann, WalletType::Peer), expected);
}

pub(super) fn a_redemption_is_refunded_once(world: &World<'_>) {
    let ann = world.user("ann");
    world.fund(WalletType::User, ann, 100);
    let redemption = redeem(world, ann, 30).unwrap();
    assert_eq!(world.read(|tx| tx.redemption(redemption.id)), Some(redemption.clone()));
    assert_eq!(world.shows(WalletType::User, ann), Some((70, 30)));
    assert_eq!(world.bench.events(EventKind::RedemptionCreated), 1);
    assert!(matches!(redeem(world, ann, 71), Err(RedeemError::InsufficientFunds)));
    assert!(matches!(redeem(world, ann, 0), Err(RedeemError::OutOfRange)));
    assert!(matches!(redeem(world, UserId::from_uuid(world.uuid()), 1), Err(RedeemError::NoSuchUser)));
    assert_eq!(refund(world, redemption.id).unwrap(), 30);
    assert!(world.read(|tx| tx.redemption(redemption.id)).unwrap().is_refunded);
    assert!(matches!(refund(world, redemption.id), Err(RefundError::AlreadyRefunded)));
    let absent = refund(world, RedemptionId::from_uuid(world.uuid()));
    assert!(matches!(absent, Err(RefundError::NoSuchRedemption)));
    assert_eq!(world.shows(WalletType::User, ann), Some((100, 30)), "a refund unspends nothing");
}

pub(super) fn spent_points_stop_at_the_largest_number(world: &World<'_>) {
    const MOST: i64 = 9_000_000_000;
    world.set_rate(1);
    let ann = world.user("ann");
    world.fund(WalletType::User, ann, MOST);
    for _ in 0..3 {
        let redemption = redeem(world, ann, MOST).unwrap();
        refund(world, redemption.id).unwrap();
    }
    assert_eq!(world.shows(WalletType::User, ann), Some((MOST, i64::MAX / 1_000_000_000)));
}

pub(super) fn transactions_are_listed_newest_first_without_roundings(world: &World<'_>) {
    world.set_rate(7);
    let (ann, bob) = (world.user("ann"), world.user("bob"));
    world.fund(WalletType::Peer, ann, 21);
    for count in 1..=6 {
        world.give(Sender::User(ann), &[bob], count).unwrap();
    }
    let listed = |number| {
        let found = world.read(|tx| tx.transactions(Account::Wallet(WalletType::Peer, ann), page(number, 4)));
        found.iter().map(|line| line.points.get()).collect::<Vec<_>>()
    };
    assert_eq!((listed(1), listed(2)), (vec![6, 5, 4, 3], vec![2, 1, 21]));
    assert_eq!((listed(3), listed(i64::MAX)), (vec![], vec![]));
}
