//! The largest possible requests.

use guerdon_domain::commands::Refusal;
use guerdon_domain::companies::UpdateCompany;
use guerdon_domain::decide::execute_command;
use guerdon_domain::distributions::DistributeError;
use guerdon_domain::money::Points;
use guerdon_domain::ports::StoreExt as _;
use guerdon_domain::recognitions::{Receivers, SendError, SendFault, SendRecognition, Sender};
use guerdon_domain::values::{Message, Update, UserId};
use guerdon_domain::wallets::WalletType;

use crate::support::{LedgerFixture, on_each_database};

/// Inserts thousands of users directly into the tables, because their creation is not under test.
pub fn create_users(fixture: &LedgerFixture, count: usize) -> Vec<UserId> {
    let (company, at) = (fixture.company.as_uuid(), 1_795_000_000_000_000_i64);
    let sqlite = format!(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {count}) \
         INSERT INTO users (id, company_id, email, email_folded, first_name, manager, company_admin, \
         corporation_admin, created_at, updated_at) \
         SELECT unhex(printf('0194000000007000800000%010d', i)), unhex('{0}'), i || '@example.com', \
         i || '@example.com', 'Crowd', 0, 0, 0, {at}, {at} FROM n; \
         INSERT INTO accounts (owner_id, kind, company_id, balance, spent, entry_count, rounding_shortfall, created_at) \
         SELECT id, k.kind, company_id, 0, 0, 0, 0, created_at FROM users, \
         (SELECT 1 AS kind UNION SELECT 2) AS k WHERE first_name = 'Crowd';",
        company.simple()
    );
    let postgres = format!(
        "INSERT INTO users (id, company_id, email, email_folded, first_name, manager, company_admin, \
         corporation_admin, created_at, updated_at) \
         SELECT ('01940000-0000-7000-8000-00' || lpad(i::text, 10, '0'))::uuid, '{company}', i || '@example.com', \
         i || '@example.com', 'Crowd', false, false, false, now(), now() FROM generate_series(1, {count}) AS i; \
         INSERT INTO accounts (owner_id, kind, company_id, balance, spent, entry_count, rounding_shortfall, created_at) \
         SELECT id, k, company_id, 0, 0, 0, 0, created_at FROM users, \
         generate_series(1, 2) AS k WHERE first_name = 'Crowd'; ANALYZE users; ANALYZE accounts;"
    );
    fixture.database.execute_sql(&sqlite, &postgres);
    let one = |n: usize| format!("01940000-0000-7000-8000-00{n:010}").parse().unwrap();
    (1..=count).map(one).collect()
}

#[test]
fn a_recognition_with_ten_thousand_receivers_succeeds_or_fails_as_a_whole() {
    on_each_database(|fixture| {
        let users = create_users(fixture, 10_000);
        fixture.deposit_points(99_999);
        let refused = fixture.send_recognition(Sender::Company(fixture.company), &users, 10);
        assert!(matches!(refused, Err(SendError::InsufficientFunds)));
        assert_eq!(fixture.wallet_points(WalletType::User, users[5_000]), Some((0, 0)));
        fixture.deposit_points(1);
        assert_eq!(
            fixture.send_recognition(Sender::Company(fixture.company), &users, 10).unwrap().len(),
            10_000
        );
        assert_eq!(fixture.reserve_points(), 0);
        assert_eq!(fixture.wallet_points(WalletType::User, users[9_999]), Some((10, 0)));
    });
}

#[test]
fn a_payment_across_the_reserve_alert_notifies_eight_thousand_administrators() {
    on_each_database(|fixture| {
        let users = create_users(fixture, 8_000);
        let promote = "UPDATE users SET company_admin = true WHERE first_name = 'Crowd'";
        fixture.database.execute_sql(promote, promote);
        fixture.deposit_points(100);
        let alert = Update::Set(Points::new(50).unwrap());
        fixture.update_company(&UpdateCompany { reserve_alert: alert, ..UpdateCompany::default() }).unwrap();
        fixture.send_recognition(Sender::Company(fixture.company), &users[..1], 60).unwrap();
        assert_eq!(fixture.database.count_rows("notifications"), 8_001, "including one to the owner");
    });
}

#[test]
fn messages_of_eight_mebibytes_are_sent_and_larger_ones_refused() {
    const RECEIVERS: usize = 8_192;
    on_each_database(|fixture| {
        let users = create_users(fixture, RECEIVERS);
        fixture.deposit_points(2 * 8_192);
        let sent = |own: Option<usize>| {
            let ids: Vec<String> = users.iter().map(ToString::to_string).collect();
            let command = SendRecognition {
                occasion_id: fixture.occasion,
                sender: Sender::Company(fixture.company),
                receivers: Receivers::parse(&ids.join(",")).unwrap(),
                points_per_receiver: 1,
                message: own.map(|bytes| Message::parse(&format!("é{}", "x".repeat(bytes - 2))).unwrap()),
                share: true,
            };
            let sent = fixture
                .store
                .transaction(|tx| execute_command(tx, fixture.provider, &command, &fixture.context()))
                .map(|sent| sent.len());
            match sent {
                Err(SendError::Faults(faults)) => Err(faults),
                other => Ok(other.unwrap()),
            }
        };
        let default = |bytes: usize| {
            let text = "x".repeat(bytes);
            let sql = format!("UPDATE occasions SET default_message = '{text}'");
            fixture.database.execute_sql(&sql, &sql);
        };
        assert_eq!(sent(Some(1_025)), Err(vec![SendFault::TooLarge]));
        default(1_025);
        assert_eq!(sent(None), Err(vec![SendFault::TooLarge]));
        default(1_024);
        assert_eq!(fixture.database.count_rows("recognitions"), 0);
        assert_eq!(sent(None), Ok(RECEIVERS));
        assert_eq!(sent(Some(1_024)), Ok(RECEIVERS));
        assert_eq!(fixture.reserve_points(), 0);
    });
}

#[test]
fn a_distribution_to_twenty_thousand_users_succeeds_or_fails_as_a_whole() {
    on_each_database(|fixture| {
        let users = create_users(fixture, 20_000);
        let run = || {
            let ran =
                fixture.distribute_points(WalletType::Peer, 3, fixture.all_recipients(WalletType::Peer));
            fixture.finish_distributions();
            ran
        };
        fixture.deposit_points(60_002);
        assert!(matches!(run(), Err(Refusal::Distribute(DistributeError::InsufficientFunds { .. }))));
        assert_eq!(fixture.reserve_points(), 60_002);
        fixture.deposit_points(1);
        assert_eq!(run().unwrap().users, 20_001); // including the owner
        assert_eq!(fixture.reserve_points(), 0);
        assert_eq!(fixture.wallet_points(WalletType::Peer, users[19_999]), Some((3, 0)));
    });
}
