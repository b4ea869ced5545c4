//! Facts as they are stored.

use uuid::Uuid;

use crate::values::{CompanyId, RecognitionId, Timestamp, UserId};
use crate::wallets::Account;

/// One end of a transfer, as it is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct End {
    /// The user or company.
    pub owner: Uuid,
    /// The number of the account's kind.
    pub kind: i16,
}

impl End {
    pub(super) fn is(self, account: Account) -> bool {
        self.owner == account.owner() && self.kind == account.kind().code()
    }
}

/// A transfer, as it is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Movement {
    /// Which leg of its cause.
    pub leg: i32,
    pub company: CompanyId,
    /// Who paid.
    pub debit: End,
    /// Who received.
    pub credit: End,
    /// How much, in nano-dollars.
    pub amount: i64,
    pub points: i64,
    pub rate: i32,
    /// The number of its reason.
    pub reason: i16,
    pub created_at: Timestamp,
}

/// A recognition, as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sent {
    pub id: RecognitionId,
    /// Which leg of its sending.
    pub leg: i32,
    pub company: CompanyId,
    pub sender: Uuid,
    pub receiver: UserId,
    pub created_at: Timestamp,
}
