//! The journal on each database satisfies the contract of all journals. The journal and the store are separate
//! adapters, so they are tested together here.

use std::sync::Arc;

use guerdon_domain::events::EventKind;
use guerdon_domain::ports::{NewEvent, ProviderChange, Store, StoreExt as _, Timestamp};
use guerdon_domain::providers::Provider;
use guerdon_domain::values::{CompanyId, EventId, JournalEntryId, ProviderId};
use guerdon_persistence::testing::{TestDatabase, covers_postgres, covers_sqlite, postgres, sqlite};
use guerdon_webhook_dispatcher::testing::{Bench, Case, Delivery};
use guerdon_webhook_dispatcher::{Journal, StoreJournal};
use time::macros::datetime;
use uuid::Uuid;

const LONG_AGO: Timestamp = Timestamp::new(datetime!(2026-01-01 00:00 UTC));

/// The journal that the service uses.
struct Real {
    store: Arc<dyn Store>,
    journal: StoreJournal,
    database: TestDatabase,
}

impl Real {
    fn over(database: TestDatabase) -> Self {
        let store = database.opened().background;
        Self { journal: StoreJournal::new(Arc::clone(&store)), store, database }
    }
}

impl Bench for Real {
    fn journal(&self) -> &dyn Journal {
        &self.journal
    }

    fn add_provider(&self, id: ProviderId) {
        let provider = Provider {
            id,
            name: format!("Provider {id}"),
            api_key: format!("key-{id}"),
            api_secret_hash: vec![1; 32],
            shared_secret_sealed: vec![2; 32],
            former_api_secret: None,
            former_shared_secret: None,
            callback_url: Some("https://example.com/hook".to_owned()),
            manages_all_domain_resources: false,
            suspended: false,
            created_at: LONG_AGO,
        };
        self.store.transaction(|tx| tx.insert_provider(&provider)).unwrap();
    }

    fn suspend(&self, id: ProviderId, suspended: bool) {
        let change = ProviderChange { suspended: Some(suspended), ..ProviderChange::default() };
        assert!(self.store.transaction(|tx| tx.change_provider(id, &change, LONG_AGO)).unwrap());
    }

    fn add_event(&self, id: EventId, provider: ProviderId, due: Timestamp) {
        let event = NewEvent {
            id,
            company_id: CompanyId::from_uuid(Uuid::nil()),
            provider_id: provider,
            kind: EventKind::RecognitionReceived,
            cause: JournalEntryId::from_uuid(Uuid::nil()),
            body: b"{}".to_vec(),
            addressed: true,
            created_at: due,
        };
        self.store.transaction(|tx| tx.queue_events(std::slice::from_ref(&event))).unwrap();
    }

    fn replay(&self, id: EventId, now: Timestamp) {
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
        self.database.tamper(&sqlite, &postgres);
    }

    fn delivery(&self, id: EventId) -> Delivery {
        let stored = self.database.delivery(id);
        let count = |value: i32| u32::try_from(value).unwrap();
        Delivery {
            state: stored.state,
            attempts: count(stored.attempts),
            attempts_before_replay: count(stored.attempts_before_replay),
            due: stored.next_attempt_at,
            lease: stored.lease_id,
            recorded: stored.recorded.into_iter().map(|(number, id)| (count(number), id)).collect(),
        }
    }
}

fn run_on_sqlite(case: Case) {
    if covers_sqlite() {
        case(&Real::over(sqlite()));
    }
}

fn run_on_postgres(case: Case) {
    if covers_postgres() {
        case(&Real::over(postgres()));
    }
}

mod on_sqlite {
    guerdon_webhook_dispatcher::journal_contract!(crate::journal::run_on_sqlite);
}

mod on_postgres {
    guerdon_webhook_dispatcher::journal_contract!(crate::journal::run_on_postgres);
}
