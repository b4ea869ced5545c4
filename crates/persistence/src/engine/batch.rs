//! Executes one batch in one transaction, without letting one command affect the others.
//!
//! The transaction loads the needs of all commands together and decides the commands one after the other.
//! Each sees the changes of those before it. If a command is refused, is not loaded or panics, only its
//! changes are undone. At the end everything that was kept is written with one commit. Nothing is committed
//! if nothing was kept.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use guerdon_domain::commands::{Outcome, Refusal, Submission};
use guerdon_domain::decide::{Batch, Undecided};
use guerdon_domain::idempotency::Begun;
use guerdon_domain::ledger::Needs;
use guerdon_domain::ports::{LedgerAccess, StoreError, Verdict};

use super::queue::Job;
use super::{Backend, BatchError, Locking};

/// What happened to one command of a batch.
pub(super) enum Fate {
    /// It ended, provided that the batch commits.
    Ended(Outcome),
    /// A fact or an account is not loaded: another transaction has locked it, or it must be loaded for this
    /// command alone.
    NotLoaded,
    /// It panicked.
    Panicked(StoreError),
}

/// Runs a batch once. The fates are in the order of the jobs.
pub(super) fn run<B: Backend>(
    backend: &B,
    jobs: &mut [Job],
    locking: Locking,
) -> (Result<(), BatchError>, Vec<Fate>) {
    let mut fates = Vec::new();
    let changes_much = jobs.iter().any(Job::changes_much);
    let now = Instant::now();
    let within = jobs.iter().map(|job| job.left(now)).min().unwrap_or_default();
    let mut failure = None;
    let mut committed = backend.transact(locking, within, changes_much, &mut |tx| {
        fates.clear();
        // Only a panic before the commit is caught. After the commit, another try would execute the commands
        // twice.
        let decided = catch_unwind(AssertUnwindSafe(|| decide_all(tx, jobs, locking, &mut fates)));
        decided.unwrap_or_else(|panic| Err(panicked(&*panic))).unwrap_or_else(|cause| {
            failure = Some(cause);
            Verdict::Rollback
        })
    });
    if let Some(cause) = failure.filter(|_| committed.is_ok()) {
        committed = Err(BatchError::Failed(cause));
    }
    fates.resize_with(jobs.len(), || Fate::NotLoaded);
    (committed, fates)
}

fn decide_all(
    tx: &mut dyn LedgerAccess,
    jobs: &mut [Job],
    locking: Locking,
    fates: &mut Vec<Fate>,
) -> Result<Verdict, StoreError> {
    // A second load that waits for locks respects the lock order only if no other command of the batch loads
    // after the first.
    let may_load_more = locking == Locking::Skip || jobs.len() == 1;
    let mut needs = Needs::default();
    jobs.iter().for_each(|job| needs.extend(&job.needs));
    let mut batch = Batch::default();
    batch.load(tx, &needs)?;
    for job in jobs {
        let fate = match catch_unwind(AssertUnwindSafe(|| decide(tx, &mut batch, job, may_load_more))) {
            Ok(fate) => fate?,
            Err(panic) => Fate::Panicked(panicked(&*panic)),
        };
        if !matches!(fate, Fate::Ended(Outcome::Done(_))) {
            batch.undo();
        }
        fates.push(fate);
    }
    if batch.changes().is_empty() {
        return Ok(Verdict::Rollback);
    }
    batch.write(tx)?;
    Ok(Verdict::Commit)
}

/// Decides one command and keeps its changes. If it does not succeed, the caller undoes its changes.
fn decide(
    tx: &mut dyn LedgerAccess,
    batch: &mut Batch,
    job: &mut Job,
    may_load_more: bool,
) -> Result<Fate, StoreError> {
    let Submission { command, provider, by, surroundings, repeatable, response } = &mut job.submission;
    let context = surroundings.context(by);
    let now = context.clock.now();
    if let Some(repeatable) = repeatable {
        match repeatable.begin_on(batch.facts(), now) {
            Begun::First => {}
            Begun::Repeat(record) => return Ok(Fate::Ended(Outcome::Repeated(record))),
            Begun::InFlight => return Ok(Fate::Ended(Outcome::KeyInUse)),
            Begun::Misused => return Ok(Fate::Ended(Outcome::KeyMisused)),
        }
    }
    let decided = if may_load_more {
        batch.decide(tx, *provider, command, &context)?
    } else {
        batch.decide_loaded(*provider, command, &context)
    };
    let done = match decided {
        Ok(done) => done,
        Err(Undecided::NotLoaded(_)) => return Ok(Fate::NotLoaded),
        Err(Undecided::Refused(refusal)) => return Ok(Fate::Ended(Outcome::Refused(refusal))),
    };
    // The response is stored with the changes, unless the client has disconnected.
    let rendered = response.render(&done).and_then(|rendered| {
        if response.is_wanted() { Ok(rendered) } else { Err(StoreError::DeadlineExceeded) }
    });
    Ok(Fate::Ended(match rendered {
        Ok((status, body)) => {
            batch.keep(repeatable.as_ref().map(|repeatable| repeatable.record(status, body, now)));
            Outcome::Done(done)
        }
        Err(cause) => Outcome::Refused(Refusal::Store(cause)),
    }))
}

/// How a command ended, given the result of its batch; `None` if it is to be tried again.
pub(super) fn outcome(committed: &Result<(), BatchError>, fate: Fate) -> Option<Outcome> {
    let failed = |cause: &StoreError| Outcome::Refused(Refusal::Store(cause.clone()));
    match (committed, fate) {
        (_, Fate::Panicked(cause)) => Some(failed(&cause)),
        (Ok(()), Fate::Ended(outcome)) => Some(outcome),
        (Ok(()), Fate::NotLoaded) | (Err(BatchError::Contended), _) => None,
        (Err(BatchError::Failed(cause) | BatchError::Unavailable(cause)), _) => Some(failed(cause)),
    }
}

/// The error for a panic.
fn panicked(panic: &(dyn Any + Send)) -> StoreError {
    let said = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
    StoreError::Broken(format!("a command panicked: {}", said.unwrap_or("it does not say why")))
}
