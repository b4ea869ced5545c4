//! Transfers between accounts, through the use cases.

use super::env::{TestEnv, page, points, user_profile};
use crate::events::EventKind;
use crate::money::Sum;
use crate::overrides::OverrideError;
use crate::recognitions::{SendError, SendFault, Sender};
use crate::redemptions::{Redeem, RedeemError, Redemption, Refund, RefundError};
use crate::values::{RedemptionId, UserId};
use crate::wallets::{Account, Direction, Reason, WalletType};

fn redeem_points(env: &TestEnv<'_>, user: UserId, count: i64) -> Result<Redemption, RedeemError> {
    let sum = Sum::Points(points(count));
    env.execute_command(&Redeem { user_id: user, sum }).map(|(redemption, _)| redemption)
}

fn refund_redemption(env: &TestEnv<'_>, id: RedemptionId) -> Result<i64, RefundError> {
    env.execute_command(&Refund(id)).map(|(_, wallet)| wallet.points.get())
}

fn wallet_history(env: &TestEnv<'_>, user: UserId, wallet: WalletType) -> Vec<(Direction, i64, Reason)> {
    let found = env.with_tx(|tx| tx.list_transactions(Account::Wallet(wallet, user), page(1, 100)));
    found
        .into_iter()
        .map(|transaction| (transaction.direction, transaction.points.get(), transaction.reason))
        .collect()
}

pub(super) fn a_company_pays_from_its_reserve_and_a_user_from_the_peer_wallet(env: &TestEnv<'_>) {
    let (ann, bob) = (env.create_user("ann"), env.create_user("bob"));
    env.deposit(100).unwrap();
    env.send_points(Sender::Company(env.company), &[ann, bob], 10).unwrap();
    assert_eq!(env.reserve_points(), 80);
    env.set_balance(WalletType::Peer, ann, 30).unwrap();
    env.send_points(Sender::User(ann), &[bob], 25).unwrap();
    assert_eq!(env.wallet_points(WalletType::Peer, ann), Some((5, 25)));
    assert_eq!(env.wallet_points(WalletType::User, ann), Some((10, 0)), "the earned points are not spent");
    assert_eq!(env.wallet_points(WalletType::User, bob), Some((35, 0)));
    assert_eq!(env.wallet_points(WalletType::Manager, bob), None);
}

pub(super) fn one_recognition_is_paid_from_one_wallet(env: &TestEnv<'_>) {
    let mut boss = user_profile("boss");
    boss.manager = true;
    let (boss, ann) = (env.create_user_from(&boss).id, env.create_user("ann"));
    env.fund_wallet(WalletType::Peer, boss, 10);
    env.fund_wallet(WalletType::Manager, boss, 15);
    let refused = env.send_points(Sender::User(boss), &[ann], 20);
    assert!(matches!(refused, Err(SendError::InsufficientFunds)));
    env.send_points(Sender::User(boss), &[ann], 12).unwrap();
    assert_eq!(env.wallet_points(WalletType::Peer, boss), Some((10, 0)));
    assert_eq!(env.wallet_points(WalletType::Manager, boss), Some((3, 12)));
    env.send_points(Sender::User(boss), &[ann], 10).unwrap();
    assert_eq!(env.wallet_points(WalletType::Peer, boss), Some((0, 10)));
}

pub(super) fn all_points_can_be_paid_but_no_more(env: &TestEnv<'_>) {
    let (ann, bob) = (env.create_user("ann"), env.create_user("bob"));
    env.deposit(19).unwrap();
    let both = env.send_points(Sender::Company(env.company), &[ann, bob], 10);
    assert!(matches!(both, Err(SendError::InsufficientFunds)));
    assert_eq!((env.reserve_points(), env.wallet_points(WalletType::User, ann)), (19, Some((0, 0))));
    assert_eq!(wallet_history(env, ann, WalletType::User), []);
    assert_eq!(env.store.count_events(EventKind::RecognitionReceived), 0);
    env.send_points(Sender::Company(env.company), &[ann], 19).unwrap();
    assert_eq!(env.reserve_points(), 0);
    let refused = env.send_points(Sender::Company(env.company), &[ann], 1);
    assert!(matches!(refused, Err(SendError::InsufficientFunds)));
}

pub(super) fn shown_points_can_be_paid_in_any_split(env: &TestEnv<'_>) {
    for rate in [7, 3, 60, 9_999, 7_000] {
        env.set_rate(rate);
        let users: Vec<UserId> = (0..7).map(|number| env.create_user(&format!("u{rate}-{number}"))).collect();
        env.deposit(7).unwrap();
        env.send_points(Sender::Company(env.company), &users, 1).unwrap();
        assert_eq!(env.reserve_points(), 0, "rate {rate}");
        for user in &users {
            assert_eq!(env.wallet_points(WalletType::User, *user), Some((1, 0)), "rate {rate}");
        }
        env.fund_wallet(WalletType::Peer, users[0], 11);
        env.send_points(Sender::User(users[0]), &users[1..3], 4).unwrap();
        env.send_points(Sender::User(users[0]), &users[3..6], 1).unwrap();
        assert_eq!(env.wallet_points(WalletType::Peer, users[0]), Some((0, 11)), "rate {rate}");
        let refused = env.send_points(Sender::User(users[0]), &users[1..2], 1);
        assert!(matches!(refused, Err(SendError::InsufficientFunds)), "rate {rate}");
        let history = wallet_history(env, users[0], WalletType::Peer);
        assert!(history.iter().all(|transaction| transaction.2 != Reason::Rounding), "rate {rate}");
    }
}

pub(super) fn a_new_rate_changes_only_the_points_shown(env: &TestEnv<'_>) {
    let ann = env.create_user("ann");
    env.fund_wallet(WalletType::Peer, ann, 100);
    env.set_rate(25);
    assert_eq!(env.wallet_points(WalletType::Peer, ann), Some((50, 0)));
    assert_eq!(wallet_history(env, ann, WalletType::Peer), [(Direction::Credit, 100, Reason::Override)]);
}

pub(super) fn the_funds_of_a_deleted_user_return_once(env: &TestEnv<'_>) {
    env.set_rate(7);
    let ann = env.create_user("ann");
    env.fund_wallet(WalletType::Peer, ann, 30);
    env.fund_wallet(WalletType::User, ann, 8);
    env.delete_user(ann).unwrap();
    env.delete_user(ann).unwrap();
    assert_eq!(env.reserve_points(), 38);
    assert_eq!(env.wallet_points(WalletType::Peer, ann), Some((0, 30)));
    assert_eq!(env.wallet_points(WalletType::User, ann), Some((0, 8)));
    let expected = [(Direction::Debit, 30, Reason::UserDeleted), (Direction::Credit, 30, Reason::Override)];
    assert_eq!(wallet_history(env, ann, WalletType::Peer), expected);
    let poor = env.create_user("poor");
    env.delete_user(poor).unwrap();
    assert_eq!((env.reserve_points(), wallet_history(env, poor, WalletType::Peer)), (38, Vec::new()));
}

pub(super) fn a_deleted_user_neither_sends_nor_receives(env: &TestEnv<'_>) {
    let (ann, bob) = (env.create_user("ann"), env.create_user("bob"));
    env.fund_wallet(WalletType::User, ann, 10);
    let redemption = redeem_points(env, ann, 10).unwrap();
    env.delete_user(ann).unwrap();
    let to = env.send_points(Sender::User(bob), &[ann], 1);
    assert!(
        matches!(to, Err(SendError::Faults(faults)) if matches!(faults[..], [SendFault::ReceiverDeleted(_)]))
    );
    let from = env.send_points(Sender::User(ann), &[bob], 1);
    assert!(matches!(from, Err(SendError::Faults(faults)) if faults == [SendFault::SenderDeleted]));
    assert!(matches!(redeem_points(env, ann, 1), Err(RedeemError::NoSuchUser)));
    assert!(matches!(refund_redemption(env, redemption.id), Err(RefundError::UserDeleted)));
    assert!(matches!(env.set_balance(WalletType::User, ann, 1), Err(OverrideError::NoSuchUser)));
}

pub(super) fn an_override_moves_the_difference_from_or_to_the_reserve(env: &TestEnv<'_>) {
    let ann = env.create_user("ann");
    env.deposit(140).unwrap();
    env.set_balance(WalletType::Peer, ann, 90).unwrap();
    assert_eq!((env.wallet_points(WalletType::Peer, ann), env.reserve_points()), (Some((90, 0)), 50));
    env.set_balance(WalletType::Peer, ann, 90).unwrap();
    env.set_balance(WalletType::Peer, ann, 0).unwrap();
    assert_eq!((env.wallet_points(WalletType::Peer, ann), env.reserve_points()), (Some((0, 0)), 140));
    assert!(matches!(
        env.set_balance(WalletType::Peer, ann, 141),
        Err(OverrideError::InsufficientFunds { .. })
    ));
    assert!(matches!(env.set_balance(WalletType::Manager, ann, 1), Err(OverrideError::NoSuchWallet)));
    assert!(matches!(env.set_balance(WalletType::User, ann, i64::MAX), Err(OverrideError::OutOfRange)));
    let unknown = UserId::from_uuid(env.new_uuid());
    assert!(matches!(env.set_balance(WalletType::User, unknown, 1), Err(OverrideError::NoSuchUser)));
    let expected = [(Direction::Debit, 90, Reason::Override), (Direction::Credit, 90, Reason::Override)];
    assert_eq!(wallet_history(env, ann, WalletType::Peer), expected);
}

pub(super) fn a_redemption_is_refunded_once(env: &TestEnv<'_>) {
    let ann = env.create_user("ann");
    env.fund_wallet(WalletType::User, ann, 100);
    let redemption = redeem_points(env, ann, 30).unwrap();
    assert_eq!(env.with_tx(|tx| tx.find_redemption(redemption.id)), Some(redemption.clone()));
    assert_eq!(env.wallet_points(WalletType::User, ann), Some((70, 30)));
    assert_eq!(env.store.count_events(EventKind::RedemptionCreated), 1);
    assert!(matches!(redeem_points(env, ann, 71), Err(RedeemError::InsufficientFunds(_))));
    assert!(matches!(redeem_points(env, ann, 0), Err(RedeemError::OutOfRange)));
    assert!(matches!(redeem_points(env, UserId::from_uuid(env.new_uuid()), 1), Err(RedeemError::NoSuchUser)));
    assert_eq!(refund_redemption(env, redemption.id).unwrap(), 30);
    assert!(env.with_tx(|tx| tx.find_redemption(redemption.id)).unwrap().is_refunded);
    assert!(matches!(refund_redemption(env, redemption.id), Err(RefundError::AlreadyRefunded)));
    let absent = refund_redemption(env, RedemptionId::from_uuid(env.new_uuid()));
    assert!(matches!(absent, Err(RefundError::NoSuchRedemption)));
    assert_eq!(
        env.wallet_points(WalletType::User, ann),
        Some((100, 30)),
        "a refund does not reduce the spent points"
    );
}

pub(super) fn spent_points_stop_at_the_largest_number(env: &TestEnv<'_>) {
    const POINTS_MAX: i64 = 9_000_000_000;
    env.set_rate(1);
    let ann = env.create_user("ann");
    env.fund_wallet(WalletType::User, ann, POINTS_MAX);
    for _ in 0..3 {
        let redemption = redeem_points(env, ann, POINTS_MAX).unwrap();
        refund_redemption(env, redemption.id).unwrap();
    }
    assert_eq!(env.wallet_points(WalletType::User, ann), Some((POINTS_MAX, i64::MAX / 1_000_000_000)));
}

pub(super) fn transactions_are_listed_newest_first_without_roundings(env: &TestEnv<'_>) {
    env.set_rate(7);
    let (ann, bob) = (env.create_user("ann"), env.create_user("bob"));
    env.fund_wallet(WalletType::Peer, ann, 21);
    for count in 1..=6 {
        env.send_points(Sender::User(ann), &[bob], count).unwrap();
    }
    let listed = |number| {
        let found =
            env.with_tx(|tx| tx.list_transactions(Account::Wallet(WalletType::Peer, ann), page(number, 4)));
        found.iter().map(|transaction| transaction.points.get()).collect::<Vec<_>>()
    };
    assert_eq!((listed(1), listed(2)), (vec![6, 5, 4, 3], vec![2, 1, 21]));
    assert_eq!((listed(3), listed(i64::MAX)), (vec![], vec![]));
}
