//! The number of statements that each request sends, as a table, so that every change of it is visible in review.

use guerdon_domain::ports::{Consistency, Reads, Role, StoreError, StoreExt as _};
use guerdon_domain::recognitions::Sender;
use guerdon_domain::values::Page;
use guerdon_domain::wallets::{Account, WalletType};
use guerdon_persistence::testing::each;

use crate::support::{World, overheard};

fn per_statement<T>(world: &World, read: impl FnMut(&mut dyn Reads) -> Result<T, StoreError>) -> T {
    world.store.read_with(Consistency::PerStatement, read).unwrap()
}

/// The number of statements of each request on the embedded database and on PostgreSQL, including those that begin and
/// end the transaction. The embedded database reads and writes row by row: each statement stays prepared and is a
/// function call, which takes less time than preparing one statement for all rows.
const TABLE: [(&str, usize, usize); 10] = [
    ("recognition, user to one", 15, 8),
    ("recognition, user to ten", 78, 8),
    ("recognition, company to one", 14, 8),
    ("redemption", 13, 8),
    ("deletion", 11, 12),
    ("get a user", 1, 1),
    ("get a user, where the request is", 1, 0),
    ("balances", 1, 1),
    ("transactions", 2, 2),
    ("recognitions received", 3, 3),
];

#[test]
fn each_request_sends_the_expected_number_of_statements() {
    overheard::listen();
    for database in each() {
        let world = World::new(database);
        let users: Vec<_> = (0..11).map(|number| world.user(&format!("u{number}"))).collect();
        world.fund(WalletType::Peer, users[0], 1_000);
        world.fund(WalletType::User, users[1], 100);
        world.deposit(1_000);
        let page = Page::new(1, 100).unwrap();
        let count = |what: &str, work: &dyn Fn()| {
            work(); // the first run, which prepares statements, is not counted
            (what.to_owned(), overheard::statements(&world.database, work).len())
        };
        let redeem = || {
            world.redeem(users[1], 1).unwrap();
        };
        let gone = [world.user("gone"), world.user("gone2")];
        let left = std::cell::RefCell::new(gone.to_vec());
        let counted = [
            count("recognition, user to one", &|| {
                world.send(Sender::User(users[0]), &users[1..2], 1).unwrap();
            }),
            count("recognition, user to ten", &|| {
                world.send(Sender::User(users[0]), &users[1..], 1).unwrap();
            }),
            count("recognition, company to one", &|| {
                world.send(Sender::Company(world.company), &users[1..2], 1).unwrap();
            }),
            count("redemption", &redeem),
            count("deletion", &|| world.delete(left.borrow_mut().pop().unwrap()).unwrap()),
            count("get a user", &|| {
                per_statement(&world, |reads| reads.user(world.provider, users[0])).named("id").unwrap();
            }),
            count("get a user, where the request is", &|| {
                let read = |reads: &mut dyn Reads| reads.user(world.provider, users[0]);
                let user = world.store.read_with(Consistency::PerStatementNoWait, read);
                assert!(user.is_ok_and(|user| user.named("id").is_ok()) || !world.database.is_embedded());
            }),
            count("balances", &|| {
                per_statement(&world, |reads| reads.balances(world.provider, users[0])).named("id").unwrap();
            }),
            count("transactions", &|| {
                per_statement(&world, |reads| {
                    reads.user(world.provider, users[0])?.named("id").unwrap();
                    reads.transactions(Account::Wallet(WalletType::Peer, users[0]), page.and_one_more())
                });
            }),
            count("recognitions received", &|| {
                world.reading(|reads| reads.recognitions(users[1], Role::Receiver, page));
            }),
        ];
        let embedded = world.database.is_embedded();
        let wanted =
            TABLE.map(|(what, sqlite, postgres)| (what.to_owned(), if embedded { sqlite } else { postgres }));
        assert_eq!(counted, wanted);
    }
}
