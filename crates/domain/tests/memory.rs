//! The store in memory keeps the contract of all stores.

use guerdon_domain::events::EventKind;
use guerdon_domain::memory::Memory;
use guerdon_domain::ports::{Ledger, StoreError, Verdict};
use guerdon_domain::testing::{Bench, Case};

#[derive(Default)]
struct InMemory(Memory);

/// What ends a unit that is to be undone.
enum Undone {
    Asked,
    Failed(StoreError),
}

impl From<StoreError> for Undone {
    fn from(cause: StoreError) -> Self {
        Self::Failed(cause)
    }
}

impl Bench for InMemory {
    fn run(&self, work: &mut dyn FnMut(&mut dyn Ledger) -> Verdict) -> Result<(), StoreError> {
        let done = self.0.transaction(|unit| match work(unit) {
            Verdict::Commit => Ok(()),
            Verdict::Rollback => Err(Undone::Asked),
        });
        match done {
            Ok(()) | Err(Undone::Asked) => Ok(()),
            Err(Undone::Failed(cause)) => Err(cause),
        }
    }

    fn events(&self, kind: EventKind) -> usize {
        self.0.events().iter().filter(|it| it.kind == kind).count()
    }

    fn mails(&self, recipient: &str) -> usize {
        self.0.mails().iter().filter(|it| it.recipient.as_str() == recipient).count()
    }
}

fn run(case: Case) {
    case(&InMemory::default());
}

guerdon_domain::store_contract!(crate::run);
