//! The in-memory store fulfils the contract of all stores.

use guerdon_domain::events::EventKind;
use guerdon_domain::memory::MemoryStore;
use guerdon_domain::ports::{LedgerTx, StoreError, Verdict};
use guerdon_domain::testing::{Case, StoreUnderTest};

#[derive(Default)]
struct EmptyMemoryStore(MemoryStore);

/// Why a transaction rolls back.
enum RolledBack {
    Requested,
    Failed(StoreError),
}

impl From<StoreError> for RolledBack {
    fn from(error: StoreError) -> Self {
        Self::Failed(error)
    }
}

impl StoreUnderTest for EmptyMemoryStore {
    fn run_transaction(&self, work: &mut dyn FnMut(&mut dyn LedgerTx) -> Verdict) -> Result<(), StoreError> {
        let done = self.0.transaction(|unit| match work(unit) {
            Verdict::Commit => Ok(()),
            Verdict::Rollback => Err(RolledBack::Requested),
        });
        match done {
            Ok(()) | Err(RolledBack::Requested) => Ok(()),
            Err(RolledBack::Failed(error)) => Err(error),
        }
    }

    fn count_events(&self, kind: EventKind) -> usize {
        self.0.queued_events().iter().filter(|event| event.kind == kind).count()
    }

    fn count_notifications(&self, recipient: &str) -> usize {
        self.0.queued_notifications().iter().filter(|new| new.recipient.address() == recipient).count()
    }
}

fn run_case(case: Case) {
    case(&EmptyMemoryStore::default());
}

guerdon_domain::store_contract!(crate::run_case);
