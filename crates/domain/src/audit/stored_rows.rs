//! Accounts, transfers and recognitions as they are stored.

use uuid::Uuid;

use crate::values::{CompanyId, RecognitionId, Timestamp, UserId};
use crate::wallets::Account;

/// One side of a transfer, as it is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AccountKey {
    /// The id of the user or company that owns the account.
    pub owner: Uuid,
    /// The stored number of the account kind.
    pub kind: i16,
}

impl AccountKey {
    pub(super) fn is_account(self, account: Account) -> bool {
        self.owner == account.owner_id() && self.kind == account.kind().code()
    }
}

/// A transfer, as it is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoredTransfer {
    /// The number of this transfer's leg in its journal entry.
    pub leg: i32,
    pub company: CompanyId,
    /// The debited account.
    pub debit: AccountKey,
    /// The credited account.
    pub credit: AccountKey,
    /// The amount in nano-dollars.
    pub amount: i64,
    pub points: i64,
    pub rate: i32,
    /// The stored number of the reason.
    pub reason: i16,
    pub created_at: Timestamp,
}

/// A recognition, as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredRecognition {
    pub id: RecognitionId,
    /// The number of this recognition's leg in its journal entry.
    pub leg: i32,
    pub company: CompanyId,
    pub sender: Uuid,
    pub receiver: UserId,
    pub created_at: Timestamp,
}
