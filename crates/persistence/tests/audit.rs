//! `verify` finds every kind of damage.

use guerdon_domain::recognitions::Sender;
use guerdon_domain::wallets::WalletType;
use guerdon_persistence::testing::each;

use crate::support::World;

/// What keeps such damage out, taken away first.
const UNGUARD_SQLITE: &str = "PRAGMA ignore_check_constraints = ON; PRAGMA foreign_keys = OFF; \
    DROP TRIGGER transfers_keep_updates_out; DROP TRIGGER transfers_keep_deletes_out;";
const UNGUARD_POSTGRES: &str = "ALTER TABLE accounts DROP CONSTRAINT never_negative, DROP CONSTRAINT spent_is_debited; \
    DROP TRIGGER transfers_keep ON transfers;";

/// Damages a sound ledger and asks which invariants are found broken.
fn check(damage: &str, expected: &[&str]) {
    for database in each() {
        let world = World::new(database);
        let (ann, bob) = (world.user("ann"), world.user("bob"));
        world.fund(WalletType::Peer, ann, 30);
        world.send(Sender::User(ann), &[bob], 10).unwrap();
        world.delete(world.user("gone")).unwrap();
        assert_eq!(world.audit(), []);
        world.database.tamper(&format!("{UNGUARD_SQLITE} {damage}"), &format!("{UNGUARD_POSTGRES} {damage}"));
        let found = world.audit();
        for invariant in expected {
            assert!(
                found.iter().any(|it| it.invariant == *invariant),
                "{damage}: {invariant} not in {found:?}"
            );
        }
    }
}

#[test]
fn a_changed_balance_is_found() {
    check("UPDATE accounts SET credits = credits + 1 WHERE kind = 1", &["balance", "conservation"]);
}

#[test]
fn points_moved_without_a_transfer_are_found() {
    check(
        "UPDATE accounts SET credits = credits + 5 WHERE kind = 5; UPDATE accounts SET debits = debits + 5 WHERE kind = 4",
        &["balance"],
    );
}

#[test]
fn a_missing_transfer_is_found() {
    check("DELETE FROM transfers WHERE reason = 1", &["balance", "recognition paid once"]);
}

#[test]
fn a_negative_wallet_is_found() {
    check("UPDATE accounts SET debits = credits + 1 WHERE kind = 2", &["never negative"]);
}

#[test]
fn a_changed_amount_is_found() {
    check("UPDATE transfers SET amount = amount + 7 WHERE reason = 1", &["balance", "price"]);
}

#[test]
fn damage_beyond_every_product_is_found_too() {
    check("UPDATE transfers SET points = 9000000000000000000 WHERE reason = 1", &["price"]);
    check("UPDATE transfers SET amount = 9000000000000000000 WHERE reason = 1", &["price", "balance"]);
}

#[test]
fn wrong_points_are_found() {
    check("UPDATE transfers SET points = points + 1 WHERE reason = 1", &["price", "recognition paid once"]);
}

#[test]
fn a_wrong_sum_of_spending_is_found() {
    check("UPDATE accounts SET spent = 0 WHERE kind = 2", &["spent"]);
}

#[test]
fn a_transfer_between_the_wrong_accounts_is_found() {
    check("UPDATE transfers SET reason = 2 WHERE reason = 1", &["shape", "recognition paid once"]);
}

#[test]
fn a_missing_recognition_is_found() {
    check("DELETE FROM recognitions", &["transfer has its recognition"]);
}

#[test]
fn a_missing_account_is_found() {
    check(
        "DELETE FROM accounts WHERE kind = 2 AND debits > 0",
        &["debited account", "peer wallet", "conservation"],
    );
    check("DELETE FROM accounts WHERE kind = 7", &["company accounts"]);
}

#[test]
fn a_deleted_user_with_an_open_wallet_is_found() {
    check("UPDATE accounts SET closed_at = NULL WHERE closed_at IS NOT NULL", &["deleted means closed"]);
}

#[test]
fn a_closed_wallet_with_points_is_found() {
    check(
        "UPDATE accounts SET credits = credits + 9 WHERE closed_at IS NOT NULL AND kind = 1",
        &["closed at zero", "balance"],
    );
}

#[test]
fn a_company_without_its_owner_is_found() {
    check("UPDATE users SET company_admin = 1 = 0 WHERE email LIKE 'owner@%'", &["owner"]);
}

#[test]
fn money_from_nowhere_is_found_whatever_reason_it_gives() {
    check("UPDATE transfers SET reason = 8, points = 0, debit_kind = 7 WHERE reason = 3", &["shape"]);
    check("UPDATE transfers SET reason = 6 WHERE reason = 7", &["shape"]);
    check("UPDATE transfers SET reason = 2 WHERE reason = 1", &["transfer has its redemption"]);
    check("UPDATE transfers SET reason = 5 WHERE reason = 1", &["transfer has its redemption"]);
}

#[test]
fn a_recognition_of_which_nobody_was_told_is_found() {
    check("DELETE FROM events", &["recognition told once"]);
}

#[test]
fn an_administrator_of_no_corporation_is_found() {
    check("UPDATE users SET corporation_admin = company_admin WHERE company_admin", &["corporation admin"]);
}

#[test]
fn a_wallet_of_another_company_is_found() {
    check("UPDATE accounts SET company_id = owner_id WHERE kind = 1", &["wallet's company"]);
}
