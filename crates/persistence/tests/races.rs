//! Concurrent requests: nothing is lost, nothing is spent twice, and no race is visible to the caller.

use std::sync::atomic::{AtomicUsize, Ordering};

use guerdon_domain::commands::Refusal;
use guerdon_domain::distributions::DistributeError;
use guerdon_domain::money::PointsPerDollar;
use guerdon_domain::ports::StoreError;
use guerdon_domain::recognitions::{SendError, SendFault, Sender};
use guerdon_domain::users::Profile;
use guerdon_domain::values::UserId;
use guerdon_domain::wallets::WalletType;

use crate::support::{LedgerFixture, on_each_database, run_concurrently};

/// Retries while the store is contended or has no free connection, as a client does after a 503.
fn retry_while_busy<T>(mut send: impl FnMut() -> Result<T, SendError>) -> Result<T, SendError> {
    loop {
        match send() {
            Err(SendError::Store(
                StoreError::Busy | StoreError::Unavailable(_) | StoreError::OutcomeUnknown(_),
            )) => {}
            other => return other,
        }
    }
}

fn create_users(fixture: &LedgerFixture, count: usize) -> Vec<UserId> {
    (0..count).map(|n| fixture.create_user(&format!("u{n}"))).collect()
}

#[test]
fn sixty_four_clients_spend_a_wallet_exactly_once() {
    const PAYMENTS: usize = 40;
    on_each_database(|fixture| {
        let users = create_users(fixture, 9);
        fixture.fund_wallet(WalletType::Peer, users[0], 40 * 5);
        let (sent, refused) = (AtomicUsize::new(0), AtomicUsize::new(0));
        run_concurrently(64, |client| {
            for round in 0..3 {
                let receiver = users[1 + (client + round) % 8];
                match retry_while_busy(|| fixture.send_recognition(Sender::User(users[0]), &[receiver], 5)) {
                    Ok(_) => sent.fetch_add(1, Ordering::Relaxed),
                    Err(SendError::InsufficientFunds) => refused.fetch_add(1, Ordering::Relaxed),
                    Err(e) => panic!("{e}"),
                };
            }
        });
        assert_eq!((sent.into_inner(), refused.into_inner()), (PAYMENTS, 64 * 3 - PAYMENTS));
        assert_eq!(fixture.wallet_points(WalletType::Peer, users[0]), Some((0, 200)));
    });
}

#[test]
fn opposite_payments_never_deadlock() {
    on_each_database(|fixture| {
        let users = create_users(fixture, 12);
        for user in &users {
            fixture.fund_wallet(WalletType::Peer, *user, 1_000);
        }
        fixture.deposit_points(100_000);
        run_concurrently(24, |client| {
            for round in 0..12 {
                let sender = users[(client + round) % 12];
                let mut to: Vec<UserId> = users.iter().copied().filter(|user| *user != sender).collect();
                to.rotate_left((client * 5 + round) % 11);
                let sender =
                    if client % 4 == 0 { Sender::Company(fixture.company) } else { Sender::User(sender) };
                fixture.send_recognition(sender, &to[..1 + round % 5], 1).unwrap();
            }
        });
    });
}

#[test]
fn deletions_against_recognitions_lose_nothing() {
    on_each_database(|fixture| {
        fixture.deposit_points(100_000);
        for round in 0..15 {
            let users: Vec<UserId> = (0..4).map(|n| fixture.create_user(&format!("r{round}u{n}"))).collect();
            for user in &users {
                fixture.fund_wallet(WalletType::Peer, *user, 50);
            }
            run_concurrently(12, |client| match client {
                0 | 1 => fixture.delete_user(users[0]).unwrap(),
                2 => fixture.delete_user(users[1]).unwrap(),
                _ => {
                    let sender = users[client % 4];
                    let receivers = [users[(client + 1) % 4], users[(client + 2) % 4]];
                    match retry_while_busy(|| fixture.send_recognition(Sender::User(sender), &receivers, 3)) {
                        Ok(_) | Err(SendError::InsufficientFunds) => {}
                        Err(SendError::Faults(faults))
                            if faults.iter().all(|fault| {
                                matches!(fault, SendFault::ReceiverDeleted(_) | SendFault::SenderDeleted)
                            }) => {}
                        Err(e) => panic!("{e}"),
                    }
                }
            });
            for deleted in &users[..2] {
                assert_eq!(fixture.wallet_points(WalletType::User, *deleted).unwrap().0, 0);
                assert_eq!(fixture.wallet_points(WalletType::Peer, *deleted).unwrap().0, 0);
            }
        }
    });
}

#[test]
fn deletions_against_distributions_never_deadlock() {
    on_each_database(|fixture| {
        fixture.deposit_points(1_000_000);
        let boss = |profile: &mut Profile| profile.manager = true;
        let users: Vec<UserId> = (0..40).map(|n| fixture.create_user_with(&format!("u{n}"), boss)).collect();
        for user in &users {
            // Their deletion then credits the reserve before it closes the peer wallet.
            fixture.fund_wallet(WalletType::User, *user, 3);
            fixture.fund_wallet(WalletType::Manager, *user, 3);
        }
        let distribute = |wallet| match fixture.distribute_points(wallet, 1, fixture.all_recipients(wallet)) {
            Ok(_)
            | Err(Refusal::Store(StoreError::Busy) | Refusal::Distribute(DistributeError::NoReceivers)) => {}
            Err(e) => panic!("{e}"),
        };
        run_concurrently(8, |client| match client {
            0 | 1 => (0..12).for_each(|_| distribute(WalletType::Peer)),
            2 => (0..12).for_each(|_| distribute(WalletType::Manager)),
            3 => (0..12).for_each(|_| distribute(WalletType::User)),
            _ => {
                users.iter().skip(client - 4).step_by(4).for_each(|user| fixture.delete_user(*user).unwrap())
            }
        });
    });
}

#[test]
fn rate_changes_against_recognitions_price_each_at_one_rate() {
    on_each_database(|fixture| {
        let users = create_users(fixture, 6);
        fixture.deposit_points(1_000_000);
        run_concurrently(12, |client| {
            for round in 0..20_usize {
                if client == 0 {
                    let rate = PointsPerDollar::new([50, 64, 40, 100][round % 4]).unwrap();
                    fixture.change_rate(rate);
                } else {
                    fixture
                        .send_recognition(Sender::Company(fixture.company), &[users[(client + round) % 6]], 7)
                        .unwrap();
                }
            }
        });
    });
}

#[test]
fn concurrent_deposits_stay_within_the_company_maximum() {
    on_each_database(|fixture| {
        let dollars = |millions: i64| millions * 1_000_000 * 50;
        let deposit = |points| fixture.try_deposit(points);
        deposit(dollars(6_000)).unwrap();
        let created = AtomicUsize::new(0);
        run_concurrently(4, |_| {
            if deposit(dollars(2_000)).is_ok() {
                created.fetch_add(1, Ordering::Relaxed);
            }
        });
        assert_eq!(created.into_inner(), 1);
    });
}
