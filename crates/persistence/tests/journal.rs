//! The order of journal and audit entries.

use guerdon_domain::money::PointsPerDollar;
use guerdon_domain::ports::{StoreExt as _, Tx};
use guerdon_domain::recognitions::{self, Sender, UpdateRecognition};
use guerdon_domain::saml::{self, UpdateSaml};
use guerdon_domain::values::{EntityId, Message, Update, checked_cast};
use guerdon_domain::wallets::WalletType;
use guerdon_persistence::testing::postgres_if_covered;
use guerdon_persistence::{Access, OpenError, migrate, open};

use crate::support::{LedgerFixture, run_concurrently};

/// Adds an entry to the audit log, which shares the position counter of the journal.
fn configure_saml(fixture: &LedgerFixture, idp_id: &str) {
    let settings =
        UpdateSaml { idp_id: Update::Set(EntityId::parse(idp_id).unwrap()), ..UpdateSaml::default() };
    let change = |tx: &mut dyn Tx| {
        saml::update(tx, fixture.provider, fixture.company, &settings, &fixture.context()).map(drop)
    };
    fixture.store.transaction(change).unwrap();
}

#[test]
fn a_database_restored_into_another_cluster_continues_its_positions() {
    if let Some(database) = postgres_if_covered() {
        let fixture = LedgerFixture::new(database);
        fixture.deposit_points(10);
        configure_saml(&fixture, "https://first.example");
        let ids = fixture.fixture_ids();
        let database = fixture.close();
        // Simulates a source cluster that has processed far more transactions than this one.
        let far = "ALTER TABLE journal_entries DISABLE TRIGGER USER; ALTER TABLE events DISABLE TRIGGER USER; \
                   UPDATE journal_entries SET position = position + 9000000000; \
                   UPDATE events SET position = position + 9000000000; \
                   ALTER TABLE journal_entries ENABLE TRIGGER USER; ALTER TABLE events ENABLE TRIGGER USER; \
                   ALTER TABLE audit_entries DISABLE TRIGGER USER; \
                   UPDATE audit_entries SET position = position + 9000001000; \
                   ALTER TABLE audit_entries ENABLE TRIGGER USER;";
        database.execute_sql("", far);
        let refused = open(&database.database_url(), Access::ServeWithoutDurability).map(drop);
        assert!(matches!(refused, Err(OpenError::Restored)), "{refused:?}");
        assert_eq!(migrate(&database.database_url()).unwrap(), Vec::<String>::new());
        let fixture = LedgerFixture::reopen(database, &ids, 1);
        let ann = fixture.create_user("ann");
        fixture.fund_wallet(WalletType::Peer, ann, 5);
        fixture.send_recognition(Sender::User(ann), &[fixture.owner], 1).unwrap();
        configure_saml(&fixture, "https://second.example");
        let head = fixture.seal_all();
        assert_eq!(fixture.audit_with(Some(head)), []);
        assert_eq!(fixture.database.count_rows("journal_entries WHERE position < 9000000000"), 0);
        assert_eq!(fixture.database.count_rows("audit_entries WHERE position < 9000001000"), 0);
    }
}

#[test]
fn concurrent_changes_of_one_row_are_journaled_in_commit_order() {
    const WRITERS: usize = 10;
    const ROUNDS: usize = 20;
    if let Some(database) = postgres_if_covered() {
        let fixture = LedgerFixture::new(database);
        let ann = fixture.create_user("ann");
        fixture.fund_wallet(WalletType::Peer, ann, 5);
        let sent = fixture.send_recognition(Sender::User(ann), &[fixture.owner], 1).unwrap();
        let sent = sent.first().unwrap().id;
        for round in 0..ROUNDS {
            run_concurrently(WRITERS, |writer| {
                let rate = 1 + checked_cast::<i64, _>(round * WRITERS + writer) % 9_000;
                fixture.change_rate(PointsPerDollar::new(rate).unwrap());
                let message = Some(Message::parse(&format!("{round} by {writer}")).unwrap());
                let change = UpdateRecognition { message, share: None };
                let context = fixture.context();
                fixture.store.transaction(|tx| recognitions::update(tx, sent, &change, &context)).unwrap();
            });
            assert_eq!(fixture.audit_ledger(), [], "after round {round}");
        }
    }
}
