//! The store and its units of work.

use super::{
    Accounts, Audit, AuditLog, AuditOptions, Companies, CompanyArchive, CompanyMoves, Corporations,
    Deliveries, Erasure, FailedRequests, Idempotency, JournalEntries, LedgerAccess, Locks,
    NotificationDeliveries, NotificationOutbox, Occasions, Outbox, Providers, ReadAccounts, ReadAuditLog,
    ReadCompanies, ReadCompanyArchive, ReadCompanyMoves, ReadCorporations, ReadDistributions, ReadErasure,
    ReadFailedRequests, ReadJournalEntries, ReadNotifications, ReadOccasions, ReadOutbox, ReadProviders,
    ReadRecognitions, ReadSaml, ReadSchedules, ReadSearch, ReadSettings, ReadStatistics, ReadUsers,
    Recognitions, Replays, Retention, Saml, Schedules, Seals, Settings, Statistics, StoreError, Users,
};
use crate::model::{AuditPart, Findings};

/// Everything that can be read from one snapshot.
pub trait ReadTx:
    ReadAccounts
    + ReadAuditLog
    + ReadJournalEntries
    + ReadCompanies
    + ReadCompanyArchive
    + ReadCompanyMoves
    + ReadCorporations
    + ReadErasure
    + ReadFailedRequests
    + ReadStatistics
    + ReadNotifications
    + ReadOccasions
    + ReadOutbox
    + ReadProviders
    + ReadRecognitions
    + ReadSaml
    + ReadSchedules
    + ReadSearch
    + ReadSettings
    + ReadDistributions
    + ReadUsers
    + Audit
{
}

/// The part of a transaction that moving points needs: providers, companies, users, occasions, recognitions,
/// redemptions, accounts, journal entries and the outbox. The in-memory store implements only this part.
pub trait LedgerTx:
    Accounts
    + AuditLog
    + JournalEntries
    + Companies
    + Corporations
    + LedgerAccess
    + Locks
    + NotificationOutbox
    + Occasions
    + Outbox
    + Providers
    + Recognitions
    + Users
{
}

/// Everything that can be done in one transaction.
pub trait Tx:
    ReadTx
    + LedgerTx
    + CompanyArchive
    + CompanyMoves
    + Deliveries
    + Erasure
    + FailedRequests
    + Statistics
    + Idempotency
    + NotificationDeliveries
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
    /// Commit the changes.
    Commit,
    /// Roll back the changes.
    Rollback,
}

/// Which state of the database each statement of a read sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Consistency {
    /// All statements read from one snapshot.
    Snapshot,
    /// Each statement sees everything that was committed when it started. This is cheaper on some databases.
    /// After a lost connection the store may run the unit of work again from the start.
    PerStatement,
    /// Like `PerStatement`, but on the calling thread, and only if the store does not have to wait for a
    /// connection, a lock or a server. Otherwise the read fails with [`StoreError::WouldBlock`], and the unit
    /// of work does not run.
    PerStatementNoWait,
}

/// How many units of work a store accepts at once. Further units wait, and may fail with
/// `StoreError::Unavailable`.
#[derive(Debug, Clone, Copy)]
pub struct StoreCapacity {
    /// Concurrent calls of [`Store::run_read`].
    pub reads: usize,
    /// Concurrent calls of [`Store::run_transaction`].
    pub transactions: usize,
}

/// The database. Object-safe; shared as `Arc<dyn Store>`.
pub trait Store: Send + Sync {
    /// How many units of work the store accepts at once.
    fn capacity(&self) -> StoreCapacity;

    /// Runs `work` in one transaction and returns once the commit is durable. May run `work` again from the
    /// start if the transaction conflicted with another one, so `work` must not have effects outside the
    /// transaction. If any call inside fails, the transaction rolls back, whatever the verdict.
    fn run_transaction(&self, work: &mut dyn FnMut(&mut dyn Tx) -> Verdict) -> Result<(), StoreError>;

    /// Like [`Store::run_transaction`], for a unit of work that may take seconds or hours. Other units never wait for
    /// its commit to learn their own result.
    fn run_long_transaction(&self, work: &mut dyn FnMut(&mut dyn Tx) -> Verdict) -> Result<(), StoreError> {
        self.run_transaction(work)
    }

    /// The differences between the schema and what the migrations create, one line each: for example a
    /// missing trigger or a loosened constraint.
    fn check_schema(&self) -> Result<Vec<String>, StoreError>;

    /// Checks one part of the database, read-only, in as many snapshots as it takes.
    fn audit_part(&self, part: AuditPart, options: &AuditOptions<'_>) -> Result<Findings, StoreError>;

    /// Runs `work`, which only reads, concurrently with any writer.
    fn run_read(
        &self,
        consistency: Consistency,
        work: &mut dyn FnMut(&mut dyn ReadTx),
    ) -> Result<(), StoreError>;
}

/// Variants of the store's methods that return the result of the work.
pub trait StoreExt: Store {
    /// Runs one transaction: `Ok` commits, `Err` rolls back.
    fn transaction<T, E: From<StoreError>>(
        &self,
        work: impl FnMut(&mut dyn Tx) -> Result<T, E>,
    ) -> Result<T, E> {
        run_and_return(|unit| self.run_transaction(unit), work)
    }

    /// Like [`StoreExt::transaction`], for a unit of work that may take seconds or hours.
    fn long_transaction<T, E: From<StoreError>>(
        &self,
        work: impl FnMut(&mut dyn Tx) -> Result<T, E>,
    ) -> Result<T, E> {
        run_and_return(|unit| self.run_long_transaction(unit), work)
    }

    /// Like [`Store::run_read`], but returns the result of `work`.
    fn read_with<T, E: From<StoreError>>(
        &self,
        consistency: Consistency,
        mut work: impl FnMut(&mut dyn ReadTx) -> Result<T, E>,
    ) -> Result<T, E> {
        let mut outcome = None;
        self.run_read(consistency, &mut |reads| outcome = Some(work(reads)))?;
        outcome.unwrap_or_else(did_not_run)
    }

    /// Like [`StoreExt::read_with`], on one snapshot.
    fn read_snapshot<T, E: From<StoreError>>(
        &self,
        work: impl FnMut(&mut dyn ReadTx) -> Result<T, E>,
    ) -> Result<T, E> {
        self.read_with(Consistency::Snapshot, work)
    }
}

impl<S: Store + ?Sized> StoreExt for S {}

fn run_and_return<T, E: From<StoreError>>(
    run: impl FnOnce(&mut dyn FnMut(&mut dyn Tx) -> Verdict) -> Result<(), StoreError>,
    mut work: impl FnMut(&mut dyn Tx) -> Result<T, E>,
) -> Result<T, E> {
    let mut outcome = None;
    run(&mut |tx| {
        let result = work(tx);
        let verdict = if result.is_ok() { Verdict::Commit } else { Verdict::Rollback };
        outcome = Some(result);
        verdict
    })?;
    outcome.unwrap_or_else(did_not_run)
}

fn did_not_run<T, E: From<StoreError>>() -> Result<T, E> {
    Err(StoreError::Broken("the unit of work did not run".into()).into())
}
