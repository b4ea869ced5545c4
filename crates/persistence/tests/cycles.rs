//! Moves the same points in many cycles: nothing overflows and nothing is lost.

use guerdon_domain::distributions::Recipients;
use guerdon_domain::wallets::WalletType;
use guerdon_persistence::testing::create_databases;

use crate::support::LedgerFixture;

/// Nine billion dollars at one point per dollar: the most that a company can ever receive.
const ALL: i64 = 9_000_000_000;

#[test]
fn ten_cycles_of_deposit_distribute_and_delete_refuse_nothing_and_lose_nothing() {
    for database in create_databases() {
        let fixture = LedgerFixture::with_rate(database, 1);
        for cycle in 0..10 {
            fixture.deposit_points(ALL / 10);
            let user = fixture.create_user(&format!("u{cycle}"));
            let points = fixture.reserve_points();
            fixture.distribute_points(WalletType::Peer, points, Recipients::Named(vec![user])).unwrap();
            assert_eq!(fixture.reserve_points(), 0);
            fixture.delete_user(user).unwrap();
            assert_eq!(fixture.reserve_points(), ALL / 10 * (cycle + 1));
            assert_eq!(fixture.wallet_points(WalletType::Peer, user), Some((0, points)));
        }
        assert_eq!(fixture.audit_ledger(), []);
    }
}

#[test]
fn ten_cycles_of_redeem_and_refund_refuse_nothing_and_points_spent_saturate() {
    for database in create_databases() {
        let fixture = LedgerFixture::with_rate(database, 1);
        let ann = fixture.create_user("ann");
        fixture.fund_wallet(WalletType::User, ann, ALL);
        for cycle in 1..=10 {
            let redeemed = fixture.redeem_points(ann, ALL).unwrap();
            let spent =
                i64::try_from((i128::from(ALL) * cycle).min(i128::from(i64::MAX / 1_000_000_000))).unwrap();
            assert_eq!(fixture.wallet_points(WalletType::User, ann), Some((0, spent)), "cycle {cycle}");
            fixture.refund_redemption(redeemed.id).unwrap();
            assert_eq!(fixture.wallet_points(WalletType::User, ann), Some((ALL, spent)), "cycle {cycle}");
        }
        assert_eq!(fixture.audit_ledger(), []);
    }
}
