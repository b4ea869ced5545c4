//! The whole audit.

use std::fmt;
use std::num::NonZero;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::model::{Findings, Part, Violation};
use crate::ports::{Store, StoreError, StoreExt as _};

impl fmt::Display for Part {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Storage => "storage",
            Self::Balances => "balances",
            Self::Journal => "journal",
            Self::Tables => "tables",
        })
    }
}

/// Checks everything: each part once, as many beside one another as there are threads, and the schema. Answers every
/// violation there is, none for a sound ledger. With a head, one more where no seal has it: then something that was
/// sealed before was changed or removed. What is so damaged that a part cannot be judged is a violation too.
pub fn verify(
    store: &dyn Store,
    head: Option<[u8; 32]>,
    threads: NonZero<usize>,
) -> Result<Vec<Violation>, StoreError> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut all = Findings::default();
        while let Some(part) = Part::ALL.get(next.fetch_add(1, Ordering::Relaxed)) {
            match store.snapshot(|reads| reads.audit(*part, head)) {
                Ok(found) => all.merge(found),
                Err(cause @ (StoreError::Corrupt { .. } | StoreError::Broken(_))) => {
                    all.add("unreadable", || format!("the {part} cannot be judged: {cause}"));
                }
                Err(cause) => return Err(cause),
            }
        }
        Ok::<_, StoreError>(all)
    };
    let mut all = thread::scope(|scope| {
        let beside: Vec<_> = (1..threads.get().min(Part::ALL.len())).map(|_| scope.spawn(work)).collect();
        let mut all = work();
        for other in beside {
            let found = other.join().unwrap_or_else(|panic| resume_unwind(panic));
            all = all.and_then(|mut all| {
                all.merge(found?);
                Ok(all)
            });
        }
        all
    })?;
    for detail in store.check_schema()? {
        all.add("schema", || detail);
    }
    Ok(all.into_violations())
}
