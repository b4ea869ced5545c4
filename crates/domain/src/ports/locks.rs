//! Holding rows that are read first and written then.

use super::StoreError;
use crate::values::{CompanyId, CorporationId, OccasionId, ProviderId, RecognitionId, ScheduleId, UserId};

/// A row that a transaction can hold. One that takes several takes them in this order; accounts, which only payments
/// hold, come after them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Row {
    Provider(ProviderId),
    Schedule(ScheduleId),
    Corporation(CorporationId),
    /// A company; its SAML settings are held with it.
    Company(CompanyId),
    Occasion(OccasionId),
    Recognition(RecognitionId),
    User(UserId),
}

/// Holding rows.
pub trait Locks {
    /// Holds a row until the transaction ends: what is read of it afterwards stays true until then. A row that is
    /// absent holds nothing.
    fn hold(&mut self, row: Row) -> Result<(), StoreError>;

    /// Keeps a company with its provider until the transaction ends, beside any number of others who do. Comes before
    /// every row that is held but a schedule's, which nobody waits for who keeps a company; what was read of the company
    /// before must be read again.
    fn keep_provider(&mut self, company: CompanyId) -> Result<(), StoreError>;

    /// Waits for everybody who keeps the company with its provider, and lets nobody else until the transaction ends.
    fn take_company_over(&mut self, company: CompanyId) -> Result<(), StoreError>;

    /// Gives this run of the transaction up: what it read has changed before it held it. It is run again from the start,
    /// whatever becomes of the error.
    fn lost_race(&mut self) -> StoreError;
}
