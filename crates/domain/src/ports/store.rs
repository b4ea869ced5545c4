//! The unit of work.

use super::{
    Accounts, Audit, AuditLog, Causes, Companies, Corporations, Deliveries, Erasure, Figures, Idempotency,
    LedgerAccess, Locks, MailDeliveries, MailOutbox, MailRetries, Occasions, Outbox, Providers, ReadAccounts,
    ReadAuditLog, ReadCauses, ReadCompanies, ReadCorporations, ReadErasure, ReadFigures, ReadMails,
    ReadMovements, ReadOccasions, ReadOutbox, ReadProviders, ReadRecognitions, ReadSaml, ReadSchedules,
    ReadSettings, ReadSteps, ReadUsers, Recognitions, Replays, Retention, Saml, Schedules, Seals, Settings,
    StoreError, Users,
};

/// Everything that can be read on one snapshot.
pub trait Reads:
    ReadAccounts
    + ReadAuditLog
    + ReadCauses
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

/// How the statements of a read relate to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Consistency {
    /// All statements read one snapshot.
    Snapshot,
    /// Each statement reads what is committed when it begins. Some databases need less work for this. After a lost connection
    /// the store may run the unit of work again from the start.
    PerStatement,
    /// Like `PerStatement`, on the calling thread, and only if the store need not wait for a connection, a lock or a server.
    /// Otherwise the read fails with [`StoreError::WouldBlock`], and the unit of work does not run.
    PerStatementNoWait,
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

    /// Runs `work`, which only reads, concurrently with any writer.
    fn read(&self, consistency: Consistency, work: &mut dyn FnMut(&mut dyn Reads)) -> Result<(), StoreError>;
}

/// The store with a result passed through.
pub trait StoreExt: Store {
    /// One transaction: `Ok` commits, `Err` rolls back.
    fn transaction<T, E: From<StoreError>>(
        &self,
        mut work: impl FnMut(&mut dyn Tx) -> Result<T, E>,
    ) -> Result<T, E> {
        let mut ended = None;
        self.run(&mut |tx| {
            let result = work(tx);
            let verdict = if result.is_ok() { Verdict::Commit } else { Verdict::Rollback };
            ended = Some(result);
            verdict
        })?;
        ended.unwrap_or_else(did_not_run)
    }

    /// [`Store::read`], with the result of `work`.
    fn read_with<T, E: From<StoreError>>(
        &self,
        consistency: Consistency,
        mut work: impl FnMut(&mut dyn Reads) -> Result<T, E>,
    ) -> Result<T, E> {
        let mut ended = None;
        self.read(consistency, &mut |reads| ended = Some(work(reads)))?;
        ended.unwrap_or_else(did_not_run)
    }

    /// [`StoreExt::read_with`] on one snapshot.
    fn snapshot<T, E: From<StoreError>>(
        &self,
        work: impl FnMut(&mut dyn Reads) -> Result<T, E>,
    ) -> Result<T, E> {
        self.read_with(Consistency::Snapshot, work)
    }
}

impl<S: Store + ?Sized> StoreExt for S {}

fn did_not_run<T, E: From<StoreError>>() -> Result<T, E> {
    Err(StoreError::Broken("the unit of work did not run".into()).into())
}
