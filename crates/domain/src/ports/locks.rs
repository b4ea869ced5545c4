//! Locks on rows that are read first and written later.

use super::StoreError;
use crate::values::{CompanyId, CorporationId, OccasionId, ProviderId, RecognitionId, ScheduleId, UserId};

/// A row that a transaction can lock. A transaction that locks several rows locks them in the order of these
/// variants. Accounts come last; only payments lock them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockableRow {
    Provider(ProviderId),
    Schedule(ScheduleId),
    Corporation(CorporationId),
    /// A company, including its SAML settings.
    Company(CompanyId),
    Occasion(OccasionId),
    Recognition(RecognitionId),
    User(UserId),
}

/// Locks rows.
pub trait Locks {
    /// Locks a row until the transaction ends. Values that are read from the row afterwards do not change
    /// until then. Does nothing if the row does not exist. Fails with [`StoreError::CompanyHandedOver`] for a company
    /// that is closed.
    fn lock_row(&mut self, row: LockableRow) -> Result<(), StoreError>;

    /// Prevents a change of the company's provider until the transaction ends; any number of transactions can
    /// do so at the same time. Take this lock before any row lock except a schedule's. Read the company again
    /// afterwards. Fails with [`StoreError::CompanyHandedOver`] if the company is closed.
    fn lock_provider_shared(&mut self, company: CompanyId) -> Result<(), StoreError>;

    /// Waits for all transactions that hold the lock of [`lock_provider_shared`](Self::lock_provider_shared)
    /// on the company, and excludes new ones until this transaction ends. Also succeeds for a closed company.
    fn lock_provider_exclusive(&mut self, company: CompanyId) -> Result<(), StoreError>;

    /// Gives up this run of the transaction, because a row changed between the first read and the lock. The
    /// transaction runs again from the start, regardless of what the caller does with the error.
    fn abort_for_retry(&mut self) -> StoreError;
}
