//! Executes several commands in one transaction as if they ran one after the other: each decision starts from
//! the facts and accounts as the previous decisions left them, and the accepted decisions are written at the
//! end.

use super::{Decide, DecideError, DecisionState};
use crate::ledger::{AccountBook, Changes, Facts, Needs};
use crate::model::IdempotencyRecord;
use crate::ports::{Context, LedgerAccess, StoreError};
use crate::values::ProviderId;

/// The loaded facts and the decisions of the commands of one transaction.
#[derive(Debug, Default)]
pub struct CommandBatch {
    facts: Facts,
    book: AccountBook,
    changes: Changes,
    /// The changes of the last command. They become part of `changes` when the decision is accepted.
    last_changes: Changes,
}

impl CommandBatch {
    /// The loaded facts, including the changes of the accepted decisions.
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    pub fn book(&self) -> &AccountBook {
        &self.book
    }

    /// The changes to write in addition to those of the account book.
    pub fn changes(&self) -> &Changes {
        &self.changes
    }

    /// Loads what commands need.
    ///
    /// # Errors
    ///
    /// If the store fails.
    pub fn load_facts<T: LedgerAccess + ?Sized>(
        &mut self,
        tx: &mut T,
        needs: &Needs,
    ) -> Result<(), StoreError> {
        tx.load_facts(needs, &mut self.facts, &mut self.book)?;
        self.facts.apply_changes(&self.changes); // the database does not have the decided changes yet
        Ok(())
    }

    /// Decides a command on the loaded facts. If something is missing, loads the command's further needs and
    /// decides again, at most once. The caller then either accepts or discards the decision.
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
    ) -> Result<Result<C::Done, DecideError<C::Refusal>>, StoreError> {
        let first = self.decide_loaded(scope, command, context);
        let Err(DecideError::NotLoaded(_)) = first else { return Ok(first) };
        self.discard_decision();
        match command.further_needs(&self.facts) {
            Ok(further) => self.load_facts(tx, &further)?,
            Err(cause) => return Ok(Err(cause.into())),
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
    ) -> Result<C::Done, DecideError<C::Refusal>> {
        self.book.set_savepoint();
        self.last_changes = Changes::default();
        let Self { facts, book, last_changes: changes, .. } = self;
        command.decide(&mut DecisionState { scope, facts, book, changes, context })
    }

    /// Undoes the last decision, unless it was accepted.
    pub fn discard_decision(&mut self) {
        self.book.roll_back_to_savepoint();
        self.last_changes = Changes::default();
    }

    /// Accepts the last decision. `record` is the response to store under the command's idempotency key; it gets the
    /// company of the decision.
    pub fn accept_decision(&mut self, record: Option<IdempotencyRecord>) {
        if let Some(mut record) = record {
            let changed_company = self.last_changes.journal_entries.first().map(|entry| entry.company_id);
            record.company_id = changed_company.or(self.last_changes.unchanged_company);
            let expired = self.facts.idempotency_records.insert(record.key.clone(), record.clone());
            self.last_changes.expired_keys.extend(expired.map(|record| record.key));
            self.last_changes.idempotency_records.push(record);
        }
        self.facts.apply_changes(&self.last_changes);
        self.changes.append(&mut self.last_changes);
        self.book.set_savepoint();
    }

    /// Writes all accepted decisions.
    ///
    /// # Errors
    ///
    /// If the store fails.
    pub fn write_changes<T: LedgerAccess + ?Sized>(&self, tx: &mut T) -> Result<(), StoreError> {
        if self.changes.is_empty() { Ok(()) } else { tx.write_changes(&self.changes, &self.book) }
    }
}

/// Executes one command in the caller's transaction. The caller rolls back after an error.
///
/// # Errors
///
/// The refusal, or a failure of the store. A fact that is still missing after the second load counts as a
/// failure.
pub fn execute_command<T: LedgerAccess + ?Sized, C: Decide>(
    tx: &mut T,
    scope: ProviderId,
    command: &C,
    context: &Context<'_>,
) -> Result<C::Done, C::Refusal> {
    let (done, batch) = decide_command(tx, scope, command, context)?;
    batch.write_changes(tx)?;
    Ok(done)
}

/// Decides one command and writes nothing.
///
/// # Errors
///
/// The refusal, or a failure of the store. A fact that is still missing after the second load counts as a failure.
pub(crate) fn decide_command<T: LedgerAccess + ?Sized, C: Decide>(
    tx: &mut T,
    scope: ProviderId,
    command: &C,
    context: &Context<'_>,
) -> Result<(C::Done, CommandBatch), C::Refusal> {
    let mut batch = CommandBatch::default();
    batch.load_facts(tx, &command.initial_needs())?;
    match batch.decide(tx, scope, command, context)? {
        Ok(done) => {
            batch.accept_decision(None);
            Ok((done, batch))
        }
        Err(DecideError::Refused(refusal)) => Err(refusal),
        Err(DecideError::NotLoaded(missing)) => Err(StoreError::from(missing).into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{COMPANY, Fixture, PROVIDER, points};
    use crate::memory::{FixedClock, PlainBodies, SequentialIds};
    use crate::model::{IdempotencyKey, Requester};
    use crate::money::Sum;
    use crate::redemptions::Redeem;
    use crate::values::Timestamp;

    fn response_record() -> IdempotencyRecord {
        let key = IdempotencyKey { scope: PROVIDER.as_uuid(), key: "4711".to_owned() };
        let (created_at, expires_at) = (Timestamp::UNIX_EPOCH, Timestamp::UNIX_EPOCH);
        let (request_hash, body) = (vec![1], vec![2]);
        IdempotencyRecord { key, company_id: None, request_hash, status: 201, body, created_at, expires_at }
    }

    #[test]
    fn accepted_decisions_are_kept_and_discarded_ones_are_not() {
        let mut fixture = Fixture::new(50);
        let ann = fixture.add_user(1, &[10]);
        let redeem = Redeem { user_id: ann, sum: Sum::Points(points(6)) };
        let requester = &Requester::OPERATOR;
        let (clock, ids) = (FixedClock(Timestamp::UNIX_EPOCH), SequentialIds::default());
        let context = Context { clock: &clock, ids: &ids, bodies: &PlainBodies, requester };
        let mut batch = CommandBatch { facts: fixture.facts, book: fixture.book, ..CommandBatch::default() };

        assert!(batch.decide_loaded(PROVIDER, &redeem, &context).is_ok());
        batch.discard_decision();
        batch.accept_decision(None);
        assert!(batch.changes().is_empty());
        assert!(batch.book().transfers().is_empty());

        assert!(batch.decide_loaded(PROVIDER, &redeem, &context).is_ok());
        batch.accept_decision(Some(response_record()));
        assert!(batch.decide_loaded(PROVIDER, &redeem, &context).is_err(), "only 4 points are left");
        batch.discard_decision();
        assert_eq!(batch.changes().journal_entries.len(), 1);
        assert_eq!(batch.book().transfers().len(), 1);
        let record = IdempotencyRecord { company_id: Some(COMPANY), ..response_record() };
        assert_eq!(batch.facts().idempotency_records.get(&record.key), Some(&record));
        assert_eq!(batch.changes().idempotency_records, [record]);
    }
}
