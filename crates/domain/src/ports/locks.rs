//! Holding rows that are read first and written then.

use super::StoreError;
use crate::values::{CompanyId, CorporationId, OccasionId, RecognitionId, RedemptionId, UserId};
use crate::wallets::Account;

/// A row that a transaction can hold. One that takes several takes them in this order,
/// and accounts after them, in the order of their kinds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Row {
    /// A corporation.
    Corporation(CorporationId),
    /// A company; its SAML settings are held with it.
    Company(CompanyId),
    /// An occasion.
    Occasion(OccasionId),
    /// A recognition.
    Recognition(RecognitionId),
    /// A redemption.
    Redemption(RedemptionId),
    /// A user.
    User(UserId),
    /// An account.
    Account(Account),
}

/// Holding rows.
pub trait Locks {
    /// Holds a row until the transaction ends: what is read of it afterwards stays true until then. A row that is
    /// absent holds nothing.
    fn hold(&mut self, row: Row) -> Result<(), StoreError>;

    /// Gives this run of the transaction up: what it read has changed before it held it. It is run again from the start,
    /// whatever becomes of the error.
    fn lost_race(&mut self) -> StoreError;
}
