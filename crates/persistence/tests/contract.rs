//! Both databases satisfy the contract of all stores.

use std::sync::Arc;

use guerdon_domain::events::EventKind;
use guerdon_domain::ports::{LedgerTx, Store, StoreError, Verdict};
use guerdon_domain::testing::{Case, StoreUnderTest};
use guerdon_persistence::testing::{TestDatabase, postgres_if_covered, sqlite_if_covered};

use crate::support::verify_at;

struct PersistentStore {
    store: Arc<dyn Store>,
    database: TestDatabase,
}

impl StoreUnderTest for PersistentStore {
    fn run_transaction(&self, work: &mut dyn FnMut(&mut dyn LedgerTx) -> Verdict) -> Result<(), StoreError> {
        self.store.run_transaction(&mut |tx| work(tx))
    }

    fn count_events(&self, kind: EventKind) -> usize {
        self.count_rows(&format!("events WHERE kind = {}", kind.code()))
    }

    fn count_notifications(&self, recipient: &str) -> usize {
        self.count_rows(&format!("notifications WHERE recipient = '{recipient}'"))
    }

    fn audit_violations(&self) -> Vec<String> {
        let now = guerdon_domain::ports::Timestamp::from_unix_micros(4_000_000_000_000_000).unwrap();
        let found = verify_at(self.store.as_ref(), None, now, std::num::NonZero::<usize>::MIN);
        found.iter().map(|violation| format!("{violation:?}")).collect()
    }
}

impl PersistentStore {
    fn count_rows(&self, from: &str) -> usize {
        usize::try_from(self.database.count_rows(from)).unwrap()
    }
}

fn run_case(case: Case, database: TestDatabase) {
    case(&PersistentStore { store: database.open_store(), database });
}

fn run_with_statement_per_table(case: Case) {
    if let Some(database) = postgres_if_covered() {
        case(&PersistentStore { store: database.open_with_statement_per_table().requests, database });
    }
}

fn run_on_sqlite(case: Case) {
    if let Some(database) = sqlite_if_covered() {
        run_case(case, database);
    }
}

fn run_on_postgres(case: Case) {
    if let Some(database) = postgres_if_covered() {
        run_case(case, database);
    }
}

mod on_sqlite {
    guerdon_domain::store_contract!(crate::contract::run_on_sqlite);
}

mod on_postgres {
    guerdon_domain::store_contract!(crate::contract::run_on_postgres);
}

/// PostgreSQL, with the form of writes that Citus needs.
mod with_statement_per_table {
    guerdon_domain::store_contract!(crate::contract::run_with_statement_per_table);
}
