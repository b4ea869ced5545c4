//! One transaction of the engine: load, decide each command in turn, write.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use guerdon_domain::commands::{Done, Outcome, Refusal};
use guerdon_domain::idempotency::Begun;
use guerdon_domain::ledger::{AccountBook, Changes, ChangesMark, Facts, Needs};
use guerdon_domain::ports::{LedgerAccess, StoreError, Timestamp, Undecided, Verdict};

use super::queue::Job;
use super::{Backend, BatchError, Locking};

/// What became of one command of a batch.
pub(super) enum Fate {
    /// It ended, if the batch commits.
    Ended(Outcome),
    /// It depends on what is not loaded, because another transaction holds it.
    NotLoaded,
    /// It panicked.
    Panicked(StoreError),
}

/// What a batch has loaded and decided.
#[derive(Default)]
struct Work {
    facts: Facts,
    book: AccountBook,
    changes: Changes,
}

/// Runs a batch once. The fates are those of the jobs, in their order.
pub(super) fn run<B: Backend>(
    backend: &B,
    jobs: &mut [Job],
    locking: Locking,
) -> (Result<(), BatchError>, Vec<Fate>) {
    let mut fates = Vec::new();
    let changes_much = jobs.iter().any(Job::changes_much);
    let now = Instant::now();
    let within = jobs.iter().map(|it| it.left(now)).min().unwrap_or_default();
    let committed = backend.transact(locking, within, changes_much, &mut |tx| {
        fates.clear();
        match decide_all(tx, jobs, &mut fates) {
            Ok(verdict) => verdict,
            Err(_remembered_by_the_transaction) => Verdict::Rollback,
        }
    });
    fates.resize_with(jobs.len(), || Fate::NotLoaded);
    (committed, fates)
}

fn decide_all(
    tx: &mut dyn LedgerAccess,
    jobs: &mut [Job],
    fates: &mut Vec<Fate>,
) -> Result<Verdict, StoreError> {
    let mut needs = Needs::default();
    jobs.iter().for_each(|job| needs.extend(&job.needs));
    let mut work = Work::default();
    tx.load(&needs, &mut work.facts, &mut work.book)?;
    for job in jobs {
        let mark = work.changes.mark();
        work.book.set_savepoint();
        let fate = match catch_unwind(AssertUnwindSafe(|| work.decide(tx, job, mark))) {
            Ok(fate) => fate?,
            Err(panic) => Fate::Panicked(panicked(&*panic)),
        };
        if !matches!(fate, Fate::Ended(Outcome::Done)) {
            work.undo(mark);
        }
        fates.push(fate);
    }
    if work.changes.is_empty() {
        return Ok(Verdict::Rollback);
    }
    tx.write(&work.changes, &work.book)?;
    Ok(Verdict::Commit)
}

impl Work {
    /// Undoes what was decided since the savepoint and the mark.
    fn undo(&mut self, mark: ChangesMark) {
        self.book.roll_back();
        self.changes.truncate(mark);
    }

    /// Decides one command. The caller undoes what did not end well.
    fn decide(
        &mut self,
        tx: &mut dyn LedgerAccess,
        job: &mut Job,
        mark: ChangesMark,
    ) -> Result<Fate, StoreError> {
        let now = job.submission.surroundings.clock.now();
        if let Some(repeatable) = &job.submission.repeatable {
            match repeatable.begin_on(&self.facts, now) {
                Begun::First => {}
                Begun::Repeat(record) => return Ok(Fate::Ended(Outcome::Repeated(record))),
                Begun::InFlight => return Ok(Fate::Ended(Outcome::KeyInUse)),
                Begun::Misused => return Ok(Fate::Ended(Outcome::KeyMisused)),
            }
        }
        let mut decided = self.decide_once(job);
        if matches!(decided, Err(Undecided::NotLoaded(_))) {
            self.undo(mark);
            let Ok(further) = job.submission.command.further_needs(&self.facts) else {
                return Ok(Fate::NotLoaded);
            };
            tx.load(&further, &mut self.facts, &mut self.book)?;
            decided = self.decide_once(job);
        }
        Ok(match decided {
            Ok(done) => match self.keep(job, &done, now) {
                Ok(()) => {
                    self.facts.follow(&self.changes);
                    Fate::Ended(Outcome::Done)
                }
                Err(cause) => Fate::Ended(Outcome::Refused(Refusal::Store(cause))),
            },
            Err(Undecided::NotLoaded(_)) => Fate::NotLoaded,
            Err(Undecided::Refused(refusal)) => Fate::Ended(Outcome::Refused(refusal)),
        })
    }

    fn decide_once(&mut self, job: &Job) -> Result<Done, Undecided<Refusal>> {
        let submission = &job.submission;
        submission.command.decide(
            submission.provider,
            &self.facts,
            &mut self.book,
            &mut self.changes,
            &submission.context(),
        )
    }

    /// Renders and keeps the response, unless nobody wants it any more.
    fn keep(&mut self, job: &mut Job, done: &Done, now: Timestamp) -> Result<(), StoreError> {
        let (status, body) = job.submission.response.render(done)?;
        if !job.submission.response.is_wanted() {
            return Err(StoreError::DeadlineExceeded);
        }
        if let Some(repeatable) = &job.submission.repeatable {
            let record = repeatable.record(status, body, now);
            let expired = self.facts.records.insert(record.key.clone(), record.clone());
            self.changes.replaced_records.extend(expired.map(|it| it.key));
            self.changes.records.push(record);
        }
        Ok(())
    }
}

/// How a command ended, given how its batch did; `None` if it is to be tried again.
pub(super) fn outcome(committed: &Result<(), BatchError>, fate: Fate) -> Option<Outcome> {
    let failed = |cause: &StoreError| Outcome::Refused(Refusal::Store(cause.clone()));
    match (committed, fate) {
        (_, Fate::Panicked(cause)) => Some(failed(&cause)),
        (Ok(()), Fate::Ended(outcome)) => Some(outcome),
        (Ok(()), Fate::NotLoaded) | (Err(BatchError::Contended), _) => None,
        (Err(BatchError::Failed(cause) | BatchError::Unavailable(cause)), _) => Some(failed(cause)),
    }
}

/// What is told of a panic.
fn panicked(panic: &(dyn Any + Send)) -> StoreError {
    let said = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
    StoreError::Broken(format!("a command panicked: {}", said.unwrap_or("it does not say why")))
}
