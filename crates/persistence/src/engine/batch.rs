//! Executes one batch in one transaction, without letting one command affect the others.
//!
//! The transaction loads the needs of all commands together and decides the commands one after the other.
//! Each decision sees the changes of the previous ones. If a command is refused, lacks a fact or panics, only
//! its changes are undone. At the end, all remaining changes are written with one commit. If there are none,
//! nothing is committed.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use guerdon_domain::commands::{Outcome, Refusal, Submission};
use guerdon_domain::decide::{CommandBatch, DecideError};
use guerdon_domain::idempotency::KeyState;
use guerdon_domain::ledger::Needs;
use guerdon_domain::ports::{LedgerAccess, StoreError, Verdict};

use super::job::Job;
use super::{Backend, BatchError, Locking};
use crate::failpoint::{failpoint, is_mutant};

/// What happened to one command of a batch.
pub(super) enum CommandResult {
    /// The command has this outcome if the batch commits.
    Ended(Outcome),
    /// A fact or an account is not loaded: another transaction has locked it, or the decision needs more than
    /// the first load read. The command is retried; in the second case, in a separate batch.
    NotLoaded,
    /// The command panicked.
    Panicked(StoreError),
}

/// Runs a batch once. The results are in the order of the jobs.
pub(super) fn run_batch<B: Backend>(
    backend: &B,
    jobs: &mut [Job],
    locking: Locking,
) -> (Result<(), BatchError>, Vec<CommandResult>) {
    let mut results = Vec::new();
    let affected_count = jobs.iter().map(Job::affected_count).max().unwrap_or_default();
    let now = Instant::now();
    let time_left = jobs.iter().map(|job| job.time_left(now)).min().unwrap_or_default();
    let mut failure = None;
    let mut committed = backend.run_transaction(locking, time_left, affected_count, &mut |tx| {
        results.clear();
        // Only a panic before the commit is caught. After the commit, a retry would execute the commands
        // twice.
        let decided = catch_unwind(AssertUnwindSafe(|| decide_all(tx, jobs, locking, &mut results)));
        decided.unwrap_or_else(|panic| Err(panic_error(&*panic))).unwrap_or_else(|cause| {
            failure = Some(cause);
            Verdict::Rollback
        })
    });
    if let Some(cause) = failure.filter(|_| committed.is_ok()) {
        committed = Err(BatchError::Failed(cause));
    }
    results.resize_with(jobs.len(), || CommandResult::NotLoaded);
    (committed, results)
}

fn decide_all(
    tx: &mut dyn LedgerAccess,
    jobs: &mut [Job],
    locking: Locking,
    results: &mut Vec<CommandResult>,
) -> Result<Verdict, StoreError> {
    // A second load that waits for locks respects the lock order only if no other command of the batch loads
    // after the first.
    let may_load_more = locking == Locking::Skip || jobs.len() == 1;
    let mut needs = Needs::default();
    jobs.iter().for_each(|job| needs.extend(&job.needs));
    let mut batch = CommandBatch::default();
    failpoint("engine.load")?;
    batch.load_facts(tx, &needs)?;
    for job in jobs {
        let result = match catch_unwind(AssertUnwindSafe(|| decide_job(tx, &mut batch, job, may_load_more))) {
            Ok(result) => result?,
            Err(panic) => CommandResult::Panicked(panic_error(&*panic)),
        };
        if !matches!(result, CommandResult::Ended(Outcome::Done(_))) && !is_mutant("keep_refused_changes") {
            batch.discard_decision();
        }
        results.push(result);
    }
    if batch.changes().is_empty() {
        return Ok(Verdict::Rollback);
    }
    failpoint("engine.write")?;
    batch.write_changes(tx)?;
    Ok(Verdict::Commit)
}

/// Decides one command and accepts its changes. If the command does not succeed, the caller undoes its
/// changes.
fn decide_job(
    tx: &mut dyn LedgerAccess,
    batch: &mut CommandBatch,
    job: &mut Job,
    may_load_more: bool,
) -> Result<CommandResult, StoreError> {
    let Submission { command, provider, requester, context_sources, idempotent_request, outcome_receiver } =
        &mut job.submission;
    failpoint("engine.decide")?;
    let context = context_sources.context_for(requester);
    let now = context.clock.now();
    if let Some(idempotent_request) = idempotent_request {
        match idempotent_request.check_claimed_key(batch.facts(), now) {
            KeyState::Unused => {}
            KeyState::Completed(record) => return Ok(CommandResult::Ended(Outcome::AlreadyExecuted(record))),
            KeyState::InFlight => return Ok(CommandResult::Ended(Outcome::KeyInUse)),
            KeyState::Misused => return Ok(CommandResult::Ended(Outcome::KeyMisused)),
        }
    }
    let decided = if may_load_more {
        batch.decide(tx, *provider, command, &context)?
    } else {
        batch.decide_loaded(*provider, command, &context)
    };
    let done = match decided {
        Ok(done) => done,
        Err(DecideError::NotLoaded(_)) => return Ok(CommandResult::NotLoaded),
        Err(DecideError::Refused(refusal)) => return Ok(CommandResult::Ended(Outcome::Refused(refusal))),
    };
    // If the client has already received a 503, the command fails with `DeadlineExceeded` and its changes are
    // discarded. Otherwise its response is stored with its changes.
    let rendered = outcome_receiver.render_response(&done).and_then(|rendered| {
        if outcome_receiver.confirm_execution() { Ok(rendered) } else { Err(StoreError::DeadlineExceeded) }
    });
    Ok(CommandResult::Ended(match rendered {
        Ok((status, body)) => {
            batch.accept_decision(
                idempotent_request
                    .as_ref()
                    .map(|idempotent_request| idempotent_request.new_record(status, body, now)),
            );
            Outcome::Done(done)
        }
        Err(cause) => Outcome::Refused(Refusal::Store(cause)),
    }))
}

/// How a command ended, given the result of its batch; `None` if it must be retried.
pub(super) fn final_outcome(committed: &Result<(), BatchError>, result: CommandResult) -> Option<Outcome> {
    let failed = |cause: &StoreError| Outcome::Refused(Refusal::Store(cause.clone()));
    match (committed, result) {
        (_, CommandResult::Panicked(cause)) => Some(failed(&cause)),
        (Err(BatchError::Unavailable(_)), _) if is_mutant("retry_unknown_commit") => None,
        (Ok(()), CommandResult::Ended(outcome)) => Some(outcome),
        (Ok(()), CommandResult::NotLoaded) | (Err(BatchError::Contended | BatchError::Duplicate(_)), _) => {
            None
        }
        (
            Err(BatchError::Failed(cause) | BatchError::Unavailable(cause) | BatchError::NoConnection(cause)),
            _,
        ) => Some(failed(cause)),
    }
}

/// The error for a panic.
fn panic_error(panic: &(dyn Any + Send)) -> StoreError {
    let message =
        panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
    StoreError::Broken(format!("a command panicked: {}", message.unwrap_or("without a message")))
}
