//! The same money moves in many cycles: nothing overflows and nothing is lost.

use guerdon_domain::distributions::Recipients;
use guerdon_domain::wallets::WalletType;
use guerdon_persistence::testing::each;

use crate::support::World;

/// Nine billion dollars at one point per dollar: the most that a company can ever receive.
const ALL: i64 = 9_000_000_000;

#[test]
fn ten_cycles_of_deposit_distribute_and_delete_refuse_nothing_and_lose_nothing() {
    for database in each() {
        let world = World::at_rate(database, 1);
        for cycle in 0..10 {
            world.deposit(ALL / 10);
            let user = world.user(&format!("u{cycle}"));
            let points = world.reserve();
            world.distribute(WalletType::Peer, points, Recipients::Named(vec![user])).unwrap();
            assert_eq!(world.reserve(), 0);
            world.delete(user).unwrap();
            assert_eq!(world.reserve(), ALL / 10 * (cycle + 1));
            assert_eq!(world.shows(WalletType::Peer, user), Some((0, points)));
        }
        assert_eq!(world.audit(), []);
    }
}

#[test]
fn ten_cycles_of_redeem_and_refund_refuse_nothing_and_points_spent_saturate() {
    for database in each() {
        let world = World::at_rate(database, 1);
        let ann = world.user("ann");
        world.fund(WalletType::User, ann, ALL);
        for cycle in 1..=10 {
            let redeemed = world.redeem(ann, ALL).unwrap();
            let spent =
                i64::try_from((i128::from(ALL) * cycle).min(i128::from(i64::MAX / 1_000_000_000))).unwrap();
            assert_eq!(world.shows(WalletType::User, ann), Some((0, spent)), "cycle {cycle}");
            world.refund(redeemed.id).unwrap();
            assert_eq!(world.shows(WalletType::User, ann), Some((ALL, spent)), "cycle {cycle}");
        }
        assert_eq!(world.audit(), []);
    }
}
