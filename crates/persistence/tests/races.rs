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

use crate::support::{World, at_once, on_each};

/// Retries while the store is contended or has no free connection, as a client does after a 503.
fn insistent<T>(mut send: impl FnMut() -> Result<T, SendError>) -> Result<T, SendError> {
    loop {
        match send() {
            Err(SendError::Store(
                StoreError::Busy | StoreError::Unavailable(_) | StoreError::OutcomeUnknown(_),
            )) => {}
            other => return other,
        }
    }
}

fn people(world: &World, count: usize) -> Vec<UserId> {
    (0..count).map(|n| world.user(&format!("u{n}"))).collect()
}

#[test]
fn sixty_four_clients_spend_a_wallet_exactly_once() {
    const PAID: usize = 40;
    on_each(|world| {
        let users = people(world, 9);
        world.fund(WalletType::Peer, users[0], 40 * 5);
        let (sent, refused) = (AtomicUsize::new(0), AtomicUsize::new(0));
        at_once(64, |client| {
            for round in 0..3 {
                let receiver = users[1 + (client + round) % 8];
                match insistent(|| world.send(Sender::User(users[0]), &[receiver], 5)) {
                    Ok(_) => sent.fetch_add(1, Ordering::Relaxed),
                    Err(SendError::InsufficientFunds) => refused.fetch_add(1, Ordering::Relaxed),
                    Err(e) => panic!("{e}"),
                };
            }
        });
        assert_eq!((sent.into_inner(), refused.into_inner()), (PAID, 64 * 3 - PAID));
        assert_eq!(world.shows(WalletType::Peer, users[0]), Some((0, 200)));
    });
}

#[test]
fn opposite_payments_never_deadlock() {
    on_each(|world| {
        let users = people(world, 12);
        for user in &users {
            world.fund(WalletType::Peer, *user, 1_000);
        }
        world.deposit(100_000);
        at_once(24, |client| {
            for round in 0..12 {
                let sender = users[(client + round) % 12];
                let mut to: Vec<UserId> = users.iter().copied().filter(|user| *user != sender).collect();
                to.rotate_left((client * 5 + round) % 11);
                let sender =
                    if client % 4 == 0 { Sender::Company(world.company) } else { Sender::User(sender) };
                world.send(sender, &to[..1 + round % 5], 1).unwrap();
            }
        });
    });
}

#[test]
fn deletions_against_recognitions_lose_nothing() {
    on_each(|world| {
        world.deposit(100_000);
        for round in 0..15 {
            let users: Vec<UserId> = (0..4).map(|n| world.user(&format!("r{round}u{n}"))).collect();
            for user in &users {
                world.fund(WalletType::Peer, *user, 50);
            }
            at_once(12, |client| match client {
                0 | 1 => world.delete(users[0]).unwrap(),
                2 => world.delete(users[1]).unwrap(),
                _ => {
                    let sender = users[client % 4];
                    let receivers = [users[(client + 1) % 4], users[(client + 2) % 4]];
                    match insistent(|| world.send(Sender::User(sender), &receivers, 3)) {
                        Ok(_) | Err(SendError::InsufficientFunds) => {}
                        Err(SendError::Faults(faults))
                            if faults.iter().all(|fault| {
                                matches!(fault, SendFault::ReceiverDeleted(_) | SendFault::SenderDeleted)
                            }) => {}
                        Err(e) => panic!("{e}"),
                    }
                }
            });
            for gone in &users[..2] {
                assert_eq!(world.shows(WalletType::User, *gone).unwrap().0, 0);
                assert_eq!(world.shows(WalletType::Peer, *gone).unwrap().0, 0);
            }
        }
    });
}

#[test]
fn deletions_against_distributions_never_deadlock() {
    on_each(|world| {
        world.deposit(1_000_000);
        let boss = |profile: &mut Profile| profile.manager = true;
        let users: Vec<UserId> = (0..40).map(|n| world.user_with(&format!("u{n}"), boss)).collect();
        for user in &users {
            world.fund(WalletType::User, *user, 3); // so that the reserve is credited before the peer wallet is closed
            world.fund(WalletType::Manager, *user, 3);
        }
        let distribute = |wallet| match world.distribute(wallet, 1, world.everybody(wallet)) {
            Ok(_) | Err(Refusal::Store(StoreError::Busy) | Refusal::Distribute(DistributeError::Nobody)) => {}
            Err(e) => panic!("{e}"),
        };
        at_once(8, |client| match client {
            0 | 1 => (0..12).for_each(|_| distribute(WalletType::Peer)),
            2 => (0..12).for_each(|_| distribute(WalletType::Manager)),
            3 => (0..12).for_each(|_| distribute(WalletType::User)),
            _ => users.iter().skip(client - 4).step_by(4).for_each(|user| world.delete(*user).unwrap()),
        });
    });
}

#[test]
fn rate_changes_against_recognitions_price_each_at_one_rate() {
    on_each(|world| {
        let users = people(world, 6);
        world.deposit(1_000_000);
        at_once(12, |client| {
            for round in 0..20_usize {
                if client == 0 {
                    let rate = PointsPerDollar::new([50, 64, 40, 100][round % 4]).unwrap();
                    world.change_rate(rate);
                } else {
                    world.send(Sender::Company(world.company), &[users[(client + round) % 6]], 7).unwrap();
                }
            }
        });
    });
}

#[test]
fn concurrent_deposits_stay_within_the_company_maximum() {
    on_each(|world| {
        let dollars = |millions: i64| millions * 1_000_000 * 50;
        let deposit = |points| world.try_deposit(points);
        deposit(dollars(6_000)).unwrap();
        let made = AtomicUsize::new(0);
        at_once(4, |_| {
            if deposit(dollars(2_000)).is_ok() {
                made.fetch_add(1, Ordering::Relaxed);
            }
        });
        assert_eq!(made.into_inner(), 1);
    });
}
