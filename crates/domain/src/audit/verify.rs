//! Runs the whole audit.

use std::fmt;
use std::num::NonZero;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

use crate::model::{AuditPart, AuditReport, Findings};
use crate::ports::{AuditOptions, Store, StoreError};

impl fmt::Display for AuditPart {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Storage => "storage",
            Self::Balances => "balances",
            Self::Journal => "journal",
            Self::Tables => "tables",
        })
    }
}

/// Checks the schema and all rows of the database, as [`verify_rows`] does.
pub fn verify(
    store: &dyn Store,
    options: &AuditOptions<'_>,
    threads: NonZero<usize>,
) -> Result<AuditReport, StoreError> {
    let mut all = find_in_rows(store, options, threads)?;
    for detail in store.check_schema()? {
        all.add_violation("schema", || detail);
    }
    Ok(report_of(all))
}

/// Checks every part of the database once, on up to `threads` threads, but not the schema. A part that is too damaged
/// to be checked counts as a violation. Writes nothing. Fails with [`StoreError::DeadlineExceeded`] if the pacer stops
/// the audit.
pub fn verify_rows(
    store: &dyn Store,
    options: &AuditOptions<'_>,
    threads: NonZero<usize>,
) -> Result<AuditReport, StoreError> {
    find_in_rows(store, options, threads).map(report_of)
}

fn report_of(all: Findings) -> AuditReport {
    let checked = all.checked;
    AuditReport { violations: all.into_violations(), checked }
}

fn find_in_rows(
    store: &dyn Store,
    options: &AuditOptions<'_>,
    threads: NonZero<usize>,
) -> Result<Findings, StoreError> {
    let (next, started_at) = (AtomicUsize::new(0), Instant::now());
    let work = || {
        let mut all = Findings::default();
        while let Some(part) = AuditPart::ALL.get(next.fetch_add(1, Ordering::Relaxed)) {
            match store.audit_part(*part, &options.after(started_at.elapsed())) {
                Ok(found) => all.merge(found),
                Err(cause @ (StoreError::Corrupt { .. } | StoreError::Broken(_))) => {
                    all.add_violation("unreadable", || format!("the {part} cannot be verified: {cause}"));
                }
                Err(cause) => return Err(cause),
            }
        }
        Ok::<_, StoreError>(all)
    };
    thread::scope(|scope| {
        let workers: Vec<_> =
            (1..threads.get().min(AuditPart::ALL.len())).map(|_| scope.spawn(work)).collect();
        let mut all = work();
        for worker in workers {
            let found = worker.join().unwrap_or_else(|panic| resume_unwind(panic));
            all = all.and_then(|mut all| {
                all.merge(found?);
                Ok(all)
            });
        }
        all
    })
}
