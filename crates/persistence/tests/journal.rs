//! The order of journal and audit entries.

use guerdon_domain::money::PointsPerDollar;
use guerdon_domain::ports::{StoreExt as _, Tx};
use guerdon_domain::recognitions::{self, Sender, UpdateRecognition};
use guerdon_domain::saml::{self, UpdateSaml};
use guerdon_domain::values::{EntityId, Message, Update, fit};
use guerdon_domain::wallets::WalletType;
use guerdon_persistence::testing::each;
use guerdon_persistence::{Access, OpenError, Opened, migrate, open};

use crate::support::{World, at_once};

/// Adds an entry to the audit log, which shares the position counter of the journal.
fn configure_saml(world: &World, idp_id: &str) {
    let settings =
        UpdateSaml { idp_id: Update::Set(EntityId::parse(idp_id).unwrap()), ..UpdateSaml::default() };
    let change = |tx: &mut dyn Tx| {
        saml::update(tx, world.provider, world.company, &settings, &world.context()).map(drop)
    };
    world.store.transaction(change).unwrap();
}

#[test]
fn a_database_restored_into_another_cluster_continues_its_positions() {
    for database in each().into_iter().filter(|database| !database.is_embedded()) {
        let world = World::new(database);
        world.deposit(10);
        configure_saml(&world, "https://first.example");
        let World { database, store, commands, background, clock, ids, provider, company, owner, occasion } =
            world;
        drop((store, commands, background));
        // Simulates a source cluster that has processed far more transactions than this one.
        let far = "ALTER TABLE journal_entries DISABLE TRIGGER USER; ALTER TABLE events DISABLE TRIGGER USER; \
                   UPDATE journal_entries SET position = position + 9000000000; \
                   UPDATE events SET position = position + 9000000000; \
                   ALTER TABLE journal_entries ENABLE TRIGGER USER; ALTER TABLE events ENABLE TRIGGER USER; \
                   ALTER TABLE audit_entries DISABLE TRIGGER USER; \
                   UPDATE audit_entries SET position = position + 9000001000; \
                   ALTER TABLE audit_entries ENABLE TRIGGER USER;";
        database.tamper("", far);
        let refused = open(&database.address(), Access::Rehearse).map(drop);
        assert!(matches!(refused, Err(OpenError::Restored)), "{refused:?}");
        assert_eq!(migrate(&database.address()).unwrap(), Vec::<String>::new());
        let Opened { requests: store, commands, background } = database.opened();
        let world =
            World { database, store, commands, background, clock, ids, provider, company, owner, occasion };
        let ann = world.user("ann");
        world.fund(WalletType::Peer, ann, 5);
        world.send(Sender::User(ann), &[world.owner], 1).unwrap();
        configure_saml(&world, "https://second.example");
        let head = world.seal();
        assert_eq!(world.audit_with(Some(head)), []);
        assert_eq!(world.database.count("journal_entries WHERE position < 9000000000"), 0);
        assert_eq!(world.database.count("audit_entries WHERE position < 9000001000"), 0);
    }
}

#[test]
fn concurrent_changes_of_one_row_are_journaled_in_commit_order() {
    const WRITERS: usize = 10;
    const ROUNDS: usize = 20;
    for database in each().into_iter().filter(|database| !database.is_embedded()) {
        let world = World::new(database);
        let ann = world.user("ann");
        world.fund(WalletType::Peer, ann, 5);
        let sent = world.send(Sender::User(ann), &[world.owner], 1).unwrap();
        let sent = sent.first().unwrap().id;
        for round in 0..ROUNDS {
            at_once(WRITERS, |writer| {
                let rate = 1 + fit::<i64, _>(round * WRITERS + writer) % 9_000;
                world.change_rate(PointsPerDollar::new(rate).unwrap());
                let message = Some(Message::parse(&format!("{round} by {writer}")).unwrap());
                let change = UpdateRecognition { message, share: None };
                let context = world.context();
                world.store.transaction(|tx| recognitions::update(tx, sent, &change, &context)).unwrap();
            });
            assert_eq!(world.audit(), [], "after round {round}");
        }
    }
}
