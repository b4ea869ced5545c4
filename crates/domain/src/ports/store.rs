//! The unit of work.

use super::{
    Accounts, Audit, AuditLog, Causes, Companies, Corporations, Deliveries, Erasure, Figures, Idempotency,
    LedgerAccess, Locks, MailDeliveries, MailOutbox, MailRetries, Occasions, Outbox, Providers, ReadAccounts,
    ReadAuditLog, ReadCompanies, ReadCorporations, ReadErasure, ReadFigures, ReadMails, ReadMovements,
    ReadOccasions, ReadOutbox, ReadProviders, ReadRecognitions, ReadSaml, ReadSchedules, ReadSettings,
    ReadSteps, ReadUsers, Recognitions, Replays, Retention, Saml, Schedules, Seals, Settings, Steps,
    StoreError, Users,
};

/// Everything that can be read on one snapshot.
pub trait Reads:
    ReadAccounts
    + ReadAuditLog
    + ReadCompanies
    + ReadCorporations
    + ReadErasure
    + ReadFigures
    + ReadMails
    + ReadMovements
    + ReadOccasions
    + ReadOutbox
    + ReadProviders
    + ReadRecognitions
    + ReadSaml
    + ReadSchedules
    + ReadSettings
    + ReadSteps
    + ReadUsers
    + Audit
{
}

/// What moving points needs of one transaction: providers, companies, people, occasions, recognitions, redemptions and
/// accounts, why, and what is told of it. The in-memory store has this much.
pub trait Ledger:
    Accounts
    + AuditLog
    + Causes
    + Companies
    + Corporations
    + LedgerAccess
    + Locks
    + MailOutbox
    + Occasions
    + Outbox
    + Providers
    + ReadMovements
    + Recognitions
    + Users
{
}

/// Everything that can be done in one transaction.
pub trait Tx:
    Reads
    + Ledger
    + Deliveries
    + Erasure
    + Figures
    + Idempotency
    + MailDeliveries
    + MailRetries
    + Replays
    + Retention
    + Saml
    + Schedules
    + Seals
    + Settings
    + Steps
{
}

/// How a unit of work ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Keep what was written.
    Commit,
    /// Undo what was written.
    Rollback,
}

/// Where everything is kept. Object-safe; held as `Arc<dyn Store>`.
pub trait Store: Send + Sync {
    /// Runs `work` in one transaction and answers once its commit is durable. May run it again from the start when
    /// it lost a race, so `work` has no effect outside the transaction. Once any call inside failed the
    /// transaction rolls back, whatever the verdict.
    fn run(&self, work: &mut dyn FnMut(&mut dyn Tx) -> Verdict) -> Result<(), StoreError>;

    /// What of the schema is not as the migrations make it, a line each: a trigger that is missing, a rule that was
    /// loosened.
    fn check_schema(&self) -> Result<Vec<String>, StoreError>;

    /// Runs `work` on a read-only snapshot, beside any writer.
    fn read(&self, work: &mut dyn FnMut(&mut dyn Reads)) -> Result<(), StoreError>;

    /// The same where each question may be answered as of its own moment, which is less work for some databases. May run
    /// `work` again from the start.
    fn glance(&self, work: &mut dyn FnMut(&mut dyn Reads)) -> Result<(), StoreError> {
        self.read(work)
    }

    /// The same by a database that answers a question about one object at once and without waiting for anybody; `None`
    /// where it cannot just now, and of any other database.
    fn glance_at_once(&self, _work: &mut dyn FnMut(&mut dyn Reads)) -> Option<Result<(), StoreError>> {
        None
    }
}

/// The store with a result passed through.
pub trait StoreExt: Store {
    /// One transaction: `Ok` commits, `Err` rolls back.
    fn transaction<T, E: From<StoreError>>(
        &self,
        work: impl FnMut(&mut dyn Tx) -> Result<T, E>,
    ) -> Result<T, E> {
        passed_through(work, |unit| self.run(unit))
    }

    /// One read-only snapshot.
    fn snapshot<T, E: From<StoreError>>(
        &self,
        work: impl FnMut(&mut dyn Reads) -> Result<T, E>,
    ) -> Result<T, E> {
        read_through(work, |unit| self.read(unit))
    }

    /// The same where each question may be answered as of its own moment.
    fn glancing<T, E: From<StoreError>>(
        &self,
        work: impl FnMut(&mut dyn Reads) -> Result<T, E>,
    ) -> Result<T, E> {
        read_through(work, |unit| self.glance(unit))
    }
}

impl<S: Store + ?Sized> StoreExt for S {}

fn read_through<T, E: From<StoreError>>(
    mut work: impl FnMut(&mut dyn Reads) -> Result<T, E>,
    read: impl FnOnce(&mut dyn FnMut(&mut dyn Reads)) -> Result<(), StoreError>,
) -> Result<T, E> {
    let mut answer = None;
    read(&mut |reads| answer = Some(work(reads)))?;
    answer.unwrap_or_else(did_not_run)
}

fn passed_through<T, E: From<StoreError>>(
    mut work: impl FnMut(&mut dyn Tx) -> Result<T, E>,
    run: impl FnOnce(&mut dyn FnMut(&mut dyn Tx) -> Verdict) -> Result<(), StoreError>,
) -> Result<T, E> {
    let mut answer = None;
    run(&mut |tx| {
        let result = work(tx);
        let verdict = if result.is_ok() { Verdict::Commit } else { Verdict::Rollback };
        answer = Some(result);
        verdict
    })?;
    answer.unwrap_or_else(did_not_run)
}

fn did_not_run<T, E: From<StoreError>>() -> Result<T, E> {
    Err(StoreError::Broken("the unit of work did not run".into()).into())
}
