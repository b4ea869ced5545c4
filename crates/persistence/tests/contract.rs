//! What every store must do for the use cases of the ledger: the suite that the store in memory keeps too.

use std::sync::Arc;

use guerdon_domain::events::EventKind;
use guerdon_domain::ports::{Ledger, Store, StoreError, Verdict};
use guerdon_domain::testing::{Bench, run};
use guerdon_persistence::testing::{TestDatabase, each, postgres, sqlite};

use crate::support::verify;

/// A fresh database.
struct Kept {
    store: Arc<dyn Store>,
    database: TestDatabase,
}

impl Bench for Kept {
    fn run(&self, work: &mut dyn FnMut(&mut dyn Ledger) -> Verdict) -> Result<(), StoreError> {
        self.store.run(&mut |tx| work(tx))
    }

    fn events(&self, kind: EventKind) -> usize {
        self.count(&format!("events WHERE kind = {}", kind.code()))
    }

    fn mails(&self, recipient: &str) -> usize {
        self.count(&format!("mails WHERE recipient = '{recipient}'"))
    }

    fn violations(&self) -> Vec<String> {
        let now = guerdon_domain::ports::Timestamp::from_unix_micros(4_000_000_000_000_000).unwrap();
        let found = verify(self.store.as_ref(), None, now, std::num::NonZero::<usize>::MIN);
        found.iter().map(|it| format!("{it:?}")).collect()
    }
}

impl Kept {
    fn count(&self, from: &str) -> usize {
        usize::try_from(self.database.count(from)).unwrap()
    }
}

#[test]
fn each_database_keeps_the_contract_of_all_stores() {
    for kind in each() {
        let fresh = || {
            let database = if kind.is_embedded() { sqlite() } else { postgres() };
            Kept { store: database.store(), database }
        };
        assert!(run(fresh) > 50);
    }
}
