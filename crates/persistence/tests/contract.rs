//! Both databases satisfy the contract of all stores.

use std::sync::Arc;

use guerdon_domain::events::EventKind;
use guerdon_domain::ports::{Ledger, Store, StoreError, Verdict};
use guerdon_domain::testing::{Bench, Case};
use guerdon_persistence::testing::{TestDatabase, covers_postgres, covers_sqlite, postgres, sqlite};

use crate::support::verify;

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
        found.iter().map(|violation| format!("{violation:?}")).collect()
    }
}

impl Kept {
    fn count(&self, from: &str) -> usize {
        usize::try_from(self.database.count(from)).unwrap()
    }
}

fn run(case: Case, database: TestDatabase) {
    case(&Kept { store: database.store(), database });
}

fn run_on_sqlite(case: Case) {
    if covers_sqlite() {
        run(case, sqlite());
    }
}

fn run_on_postgres(case: Case) {
    if covers_postgres() {
        run(case, postgres());
    }
}

mod on_sqlite {
    guerdon_domain::store_contract!(crate::contract::run_on_sqlite);
}

mod on_postgres {
    guerdon_domain::store_contract!(crate::contract::run_on_postgres);
}
