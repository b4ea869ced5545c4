//! Facts as they are stored.

use uuid::Uuid;

use crate::values::{CompanyId, RecognitionId, Timestamp, UserId};
use crate::wallets::Account;

/// One side of a transfer, as it is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct End {
    /// The user or company.
    pub owner: Uuid,
    /// The number of the account kind.
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
    /// The leg of its journal entry.
    pub leg: i32,
    pub company: CompanyId,
    /// The debited account.
    pub debit: End,
    /// The credited account.
    pub credit: End,
    /// The amount in nano-dollars.
    pub amount: i64,
    pub points: i64,
    pub rate: i32,
    /// The number of the reason.
    pub reason: i16,
    pub created_at: Timestamp,
}

/// A recognition, as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sent {
    pub id: RecognitionId,
    /// The leg of its sending.
    pub leg: i32,
    pub company: CompanyId,
    pub sender: Uuid,
    pub receiver: UserId,
    pub created_at: Timestamp,
}
