//! The order of facts.

use guerdon_domain::recognitions::Sender;
use guerdon_domain::wallets::WalletType;
use guerdon_persistence::testing::each;
use guerdon_persistence::{Access, OpenError, migrate, open};

use crate::support::World;

#[test]
fn a_database_restored_into_another_cluster_goes_on_where_it_stopped() {
    for database in each().into_iter().filter(|it| !it.is_embedded()) {
        let world = World::new(database);
        world.deposit(10);
        let World { database, store, background, clock, ids, provider, company, owner, occasion } = world;
        drop((store, background));
        // As if the cluster that it came from had seen far more transactions than this one.
        let far = "ALTER TABLE causes DISABLE TRIGGER USER; ALTER TABLE events DISABLE TRIGGER USER; \
                   UPDATE causes SET position = position + 9000000000; \
                   UPDATE events SET position = position + 9000000000; \
                   ALTER TABLE causes ENABLE TRIGGER USER; ALTER TABLE events ENABLE TRIGGER USER;";
        database.tamper("", far);
        let refused = open(&database.address(), Access::Rehearse).map(drop);
        assert!(matches!(refused, Err(OpenError::Older)), "{refused:?}");
        assert_eq!(migrate(&database.address()).unwrap(), Vec::<String>::new());
        let opened = database.opened();
        let (store, background) = (opened.requests, opened.background);
        let world = World { database, store, background, clock, ids, provider, company, owner, occasion };
        let ann = world.user("ann");
        world.fund(WalletType::Peer, ann, 5);
        world.send(Sender::User(ann), &[world.owner], 1).unwrap();
        let head = world.seal();
        assert_eq!(world.audit_with(Some(head)), []);
        assert_eq!(world.database.count("causes WHERE position < 9000000000"), 0);
    }
}
