//! The number of statements that each request sends, as a table, so that every change of it is visible in review.

use guerdon_domain::ports::{Consistency, ReadTx, Role, StoreError, StoreExt as _};
use guerdon_domain::recognitions::Sender;
use guerdon_domain::values::Page;
use guerdon_domain::wallets::{Account, WalletType};
use guerdon_persistence::testing::create_databases;

use crate::support::{LedgerFixture, recorded_statements};

fn per_statement<T>(
    fixture: &LedgerFixture,
    read: impl FnMut(&mut dyn ReadTx) -> Result<T, StoreError>,
) -> T {
    fixture.store.read_with(Consistency::PerStatement, read).unwrap()
}

/// The number of statements of each request on the embedded database and on PostgreSQL, including those that begin and
/// end the transaction. The embedded database reads and writes row by row: each statement stays prepared and is a
/// function call, which takes less time than preparing one statement for all rows.
const STATEMENT_COUNTS: [(&str, usize, usize); 10] = [
    ("recognition, user to one", 15, 8),
    ("recognition, user to ten", 78, 8),
    ("recognition, company to one", 14, 8),
    ("redemption", 13, 8),
    ("deletion", 11, 12),
    ("get a user", 1, 1),
    ("get a user, on the calling thread", 1, 0),
    ("balances", 1, 1),
    ("transactions", 2, 2),
    ("recognitions received", 3, 3),
];

#[test]
fn each_request_sends_the_expected_number_of_statements() {
    recorded_statements::start_recording();
    for database in create_databases() {
        let fixture = LedgerFixture::new(database);
        let users: Vec<_> = (0..11).map(|number| fixture.create_user(&format!("u{number}"))).collect();
        fixture.fund_wallet(WalletType::Peer, users[0], 1_000);
        fixture.fund_wallet(WalletType::User, users[1], 100);
        fixture.deposit_points(1_000);
        let page = Page::new(1, 100).unwrap();
        let count = |what: &str, work: &dyn Fn()| {
            work(); // the first run, which prepares statements, is not counted
            (what.to_owned(), recorded_statements::record_statements(&fixture.database, work).len())
        };
        let gone = [fixture.create_user("gone"), fixture.create_user("gone2")];
        let left = std::cell::RefCell::new(gone.to_vec());
        let counted = [
            count("recognition, user to one", &|| {
                fixture.send_recognition(Sender::User(users[0]), &users[1..2], 1).unwrap();
            }),
            count("recognition, user to ten", &|| {
                fixture.send_recognition(Sender::User(users[0]), &users[1..], 1).unwrap();
            }),
            count("recognition, company to one", &|| {
                fixture.send_recognition(Sender::Company(fixture.company), &users[1..2], 1).unwrap();
            }),
            count("redemption", &|| fixture.redeem_points(users[1], 1).map(|_| ()).unwrap()),
            count("deletion", &|| fixture.delete_user(left.borrow_mut().pop().unwrap()).unwrap()),
            count("get a user", &|| {
                per_statement(&fixture, |reads| reads.find_user(fixture.provider, users[0]))
                    .or_denied("id")
                    .unwrap();
            }),
            count("get a user, on the calling thread", &|| {
                let read = |reads: &mut dyn ReadTx| reads.find_user(fixture.provider, users[0]);
                let user = fixture.store.read_with(Consistency::PerStatementNoWait, read);
                assert!(
                    user.is_ok_and(|user| user.or_denied("id").is_ok()) || !fixture.database.is_embedded()
                );
            }),
            count("balances", &|| {
                per_statement(&fixture, |reads| reads.find_balances(fixture.provider, users[0]))
                    .or_denied("id")
                    .unwrap();
            }),
            count("transactions", &|| {
                per_statement(&fixture, |reads| {
                    reads.find_user(fixture.provider, users[0])?.or_denied("id").unwrap();
                    reads
                        .list_transactions(Account::Wallet(WalletType::Peer, users[0]), page.with_lookahead())
                });
            }),
            count("recognitions received", &|| {
                fixture.read_snapshot(|reads| reads.list_recognitions(users[1], Role::Receiver, page));
            }),
        ];
        let embedded = fixture.database.is_embedded();
        let wanted = STATEMENT_COUNTS
            .map(|(what, sqlite, postgres)| (what.to_owned(), if embedded { sqlite } else { postgres }));
        assert_eq!(counted, wanted);
    }
}
