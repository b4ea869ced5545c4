//! The persistent delivery store satisfies the contract of delivery stores on each database. The delivery store and the
//! store belong to different adapters, so they are tested together here.

use std::sync::Arc;

use guerdon_domain::events::EventKind;
use guerdon_domain::ports::{NewEvent, Store, StoreExt as _, Timestamp};
use guerdon_domain::providers::Provider;
use guerdon_domain::values::{CompanyId, EventId, JournalEntryId, ProviderId};
use guerdon_persistence::testing::{TestDatabase, postgres_if_covered, sqlite_if_covered};
use guerdon_webhook_dispatcher::testing::{ContractCase, DeliveryState, StoreHarness};
use guerdon_webhook_dispatcher::{DeliveryStore, PersistentDeliveryStore};
use time::macros::datetime;
use uuid::Uuid;

const LONG_AGO: Timestamp = Timestamp::new(datetime!(2026-01-01 00:00 UTC));

/// The delivery store that the service uses.
struct PersistentStoreFixture {
    store: Arc<dyn Store>,
    delivery_store: PersistentDeliveryStore,
    database: TestDatabase,
}

impl PersistentStoreFixture {
    fn on_database(database: TestDatabase) -> Self {
        let store = database.open_for_service().background;
        Self { delivery_store: PersistentDeliveryStore::new(Arc::clone(&store)), store, database }
    }
}

impl StoreHarness for PersistentStoreFixture {
    fn store(&self) -> &dyn DeliveryStore {
        &self.delivery_store
    }

    fn add_provider(&self, id: ProviderId) {
        let provider = Provider {
            id,
            name: format!("Provider {id}"),
            api_key: format!("key-{id}"),
            api_secret_hash: vec![1; 32],
            encrypted_shared_secret: vec![2; 32],
            former_api_secret: None,
            former_shared_secret: None,
            callback_url: Some("https://example.com/hook".to_owned()),
            manages_all_domain_resources: false,
            suspended: false,
            created_at: LONG_AGO,
        };
        self.store.transaction(|tx| tx.insert_provider(&provider)).unwrap();
    }

    fn set_suspended(&self, id: ProviderId, suspended: bool) {
        let set = self.store.transaction(|tx| {
            let provider = tx.find_provider(id)?.unwrap();
            tx.update_provider(&Provider { suspended, ..provider }, LONG_AGO)
        });
        set.unwrap();
    }

    fn add_event(&self, id: EventId, provider: ProviderId, due: Timestamp) {
        let event = NewEvent {
            id,
            company_id: CompanyId::from_uuid(Uuid::nil()),
            provider_id: provider,
            kind: EventKind::RecognitionReceived,
            entry_id: JournalEntryId::from_uuid(Uuid::nil()),
            body: b"{}".to_vec(),
            addressed: true,
            created_at: due,
        };
        self.store.transaction(|tx| tx.queue_events(std::slice::from_ref(&event))).unwrap();
    }

    fn replay_event(&self, id: EventId, now: Timestamp) {
        assert_eq!(self.store.transaction(|tx| tx.replay_event(id, now)).unwrap(), Some(true));
    }

    fn break_event(&self, id: Option<EventId>) {
        let mut sqlite = "DROP TRIGGER IF EXISTS broken;".to_owned();
        let mut postgres = "DROP TRIGGER IF EXISTS broken ON deliveries;".to_owned();
        if let Some(id) = id {
            sqlite.push_str(&format!(
                "CREATE TRIGGER broken BEFORE UPDATE ON deliveries WHEN OLD.event_id = x'{}' \
                 BEGIN SELECT RAISE(ABORT, 'broken'); END",
                id.as_uuid().simple()
            ));
            postgres.push_str(&format!(
                "CREATE FUNCTION broken() RETURNS trigger LANGUAGE plpgsql AS \
                 $$ BEGIN RAISE EXCEPTION 'broken'; END $$; \
                 CREATE TRIGGER broken BEFORE UPDATE ON deliveries FOR EACH ROW \
                 WHEN (OLD.event_id = '{}') EXECUTE FUNCTION broken()",
                id.as_uuid()
            ));
        }
        self.database.execute_sql(&sqlite, &postgres);
    }

    fn load_delivery(&self, id: EventId) -> DeliveryState {
        let stored = self.database.load_delivery(id);
        let count = |value: i32| u32::try_from(value).unwrap();
        DeliveryState {
            state: stored.state,
            attempts: count(stored.attempts),
            attempts_before_replay: count(stored.attempts_before_replay),
            due: stored.next_attempt_at,
            lease: stored.lease_id,
            recorded: stored.recorded.into_iter().map(|(number, id)| (count(number), id)).collect(),
        }
    }
}

fn run_on_sqlite(case: ContractCase) {
    if let Some(database) = sqlite_if_covered() {
        case(&PersistentStoreFixture::on_database(database));
    }
}

fn run_on_postgres(case: ContractCase) {
    if let Some(database) = postgres_if_covered() {
        case(&PersistentStoreFixture::on_database(database));
    }
}

mod on_sqlite {
    guerdon_webhook_dispatcher::delivery_store_contract!(crate::delivery_store::run_on_sqlite);
}

mod on_postgres {
    guerdon_webhook_dispatcher::delivery_store_contract!(crate::delivery_store::run_on_postgres);
}
