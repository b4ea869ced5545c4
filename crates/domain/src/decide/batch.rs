//! Executes several commands in one transaction as if they ran one after the other: each is decided on the
//! facts and accounts that the commands before it left, and everything that was kept is written at the end.

use super::{Decide, Deciding, Undecided};
use crate::ledger::{AccountBook, Changes, Facts, Needs};
use crate::model::IdempotencyRecord;
use crate::ports::{Context, LedgerAccess, StoreError};
use crate::values::ProviderId;

/// The loaded facts and the decisions of the commands of one transaction.
#[derive(Debug, Default)]
pub struct Batch {
    facts: Facts,
    book: AccountBook,
    changes: Changes,
    /// The changes of the last command. They become part of `changes` when they are kept.
    last: Changes,
}

impl Batch {
    /// The loaded facts, including the changes of the commands that were kept.
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    pub fn book(&self) -> &AccountBook {
        &self.book
    }

    /// The changes to write, in addition to those of the book.
    pub fn changes(&self) -> &Changes {
        &self.changes
    }

    /// Loads what commands need.
    ///
    /// # Errors
    ///
    /// If the store fails.
    pub fn load<T: LedgerAccess + ?Sized>(&mut self, tx: &mut T, needs: &Needs) -> Result<(), StoreError> {
        tx.load(needs, &mut self.facts, &mut self.book)?;
        self.facts.follow(&self.changes); // the database does not have the decided changes yet
        Ok(())
    }

    /// Decides a command on the loaded facts. If something is missing, loads the command's further needs and
    /// decides again, at most once. The caller then either keeps the decision or undoes it.
    ///
    /// # Errors
    ///
    /// The outer error is a failure of the store; the inner one is the reason why the command was not
    /// decided.
    pub fn decide<T: LedgerAccess + ?Sized, C: Decide>(
        &mut self,
        tx: &mut T,
        scope: ProviderId,
        command: &C,
        context: &Context<'_>,
    ) -> Result<Result<C::Done, Undecided<C::Refusal>>, StoreError> {
        let first = self.decide_loaded(scope, command, context);
        let Err(Undecided::NotLoaded(_)) = first else { return Ok(first) };
        self.undo();
        match command.further_needs(&self.facts) {
            Ok(further) => self.load(tx, &further)?,
            Err(missing) => return Ok(Err(Undecided::NotLoaded(missing))),
        }
        Ok(self.decide_loaded(scope, command, context))
    }

    /// Decides a command on the loaded facts only.
    ///
    /// # Errors
    ///
    /// The reason why it was not decided.
    pub fn decide_loaded<C: Decide>(
        &mut self,
        scope: ProviderId,
        command: &C,
        context: &Context<'_>,
    ) -> Result<C::Done, Undecided<C::Refusal>> {
        self.book.set_savepoint();
        self.last = Changes::default();
        let Self { facts, book, last: changes, .. } = self;
        command.decide(&mut Deciding { scope, facts, book, changes, context })
    }

    /// Undoes the last decision, unless it was kept.
    pub fn undo(&mut self) {
        self.book.roll_back();
        self.last = Changes::default();
    }

    /// Keeps the last decision, together with the response for a retry with its idempotency key.
    pub fn keep(&mut self, record: Option<IdempotencyRecord>) {
        if let Some(record) = record {
            let expired = self.facts.records.insert(record.key.clone(), record.clone());
            self.last.replaced_records.extend(expired.map(|record| record.key));
            self.last.records.push(record);
        }
        self.facts.follow(&self.last);
        self.changes.append(&mut self.last);
        self.book.set_savepoint();
    }

    /// Writes all decisions that were kept.
    ///
    /// # Errors
    ///
    /// If the store fails.
    pub fn write<T: LedgerAccess + ?Sized>(&self, tx: &mut T) -> Result<(), StoreError> {
        if self.changes.is_empty() { Ok(()) } else { tx.write(&self.changes, &self.book) }
    }
}

/// Executes one command in the caller's transaction. The caller rolls back after an error.
///
/// # Errors
///
/// The refusal; or a failure of the store, which includes a fact that is still missing after the second load.
pub fn carry_out<T: LedgerAccess + ?Sized, C: Decide>(
    tx: &mut T,
    scope: ProviderId,
    command: &C,
    context: &Context<'_>,
) -> Result<C::Done, C::Refusal> {
    let (done, batch) = decide_one(tx, scope, command, context)?;
    batch.write(tx)?;
    Ok(done)
}

/// Decides one command and writes nothing.
///
/// # Errors
///
/// As [`carry_out`].
pub(crate) fn decide_one<T: LedgerAccess + ?Sized, C: Decide>(
    tx: &mut T,
    scope: ProviderId,
    command: &C,
    context: &Context<'_>,
) -> Result<(C::Done, Batch), C::Refusal> {
    let mut batch = Batch::default();
    batch.load(tx, &command.needs())?;
    match batch.decide(tx, scope, command, context)? {
        Ok(done) => {
            batch.keep(None);
            Ok((done, batch))
        }
        Err(Undecided::Refused(refusal)) => Err(refusal),
        Err(Undecided::NotLoaded(missing)) => Err(StoreError::from(missing).into()),
    }
}
