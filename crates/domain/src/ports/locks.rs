//! Holding rows that are read first and written then.

use super::StoreError;
use crate::values::{CompanyId, CorporationId, OccasionId, ProviderId, RecognitionId, ScheduleId, UserId};
use crate::wallets::Account;

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

/// What a sending will need, as far as its command says.
#[derive(Debug, Clone, Copy)]
pub struct Expected<'a> {
    pub occasion: OccasionId,
    /// Who pays; of a user's wallets one of those that it sends from.
    pub payer: Account,
    pub receivers: &'a [Account],
}

/// Holding rows.
pub trait Locks {
    /// Holds a row until the transaction ends: what is read of it afterwards stays true until then. A row that is
    /// absent holds nothing.
    fn hold(&mut self, row: Row) -> Result<(), StoreError>;

    /// Says early who will be paid by whom, and for what. Where too many are at work on one of these accounts, or another writes much
    /// where one writes at a time, this run of the transaction is given up before it has done anything, and begun anew
    /// when it is its turn. A payment does the same, with all the work before it done in vain.
    fn line_up(&mut self, expected: &Expected<'_>) -> Result<(), StoreError>;

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
