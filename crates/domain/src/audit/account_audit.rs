//! Recomputes what an account must hold from its entries.

use uuid::Uuid;

use crate::model::Findings;
use crate::values::JournalEntryId;
use crate::wallets::{AccountKind, Direction, Reason};

/// An account as it is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoredAccount {
    /// The id of the user or company that owns the account.
    pub owner: Uuid,
    pub kind: i16,
    /// The stored balance in nano-dollars.
    pub balance: i64,
    /// The stored total of the debits that count as spent, in nano-dollars.
    pub spent: i64,
    /// The stored number of the account's entries.
    pub entry_count: i64,
    pub closed: bool,
}

/// One entry of an account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoredAccountEntry {
    pub direction: Direction,
    /// The sequence number of the entry in its account, starting at 1.
    pub sequence: i64,
    /// The amount in nano-dollars.
    pub amount: i64,
    /// The stored number of the reason for the transfer.
    pub reason: i16,
    /// The journal entry that the transfer belongs to.
    pub entry_id: JournalEntryId,
}

/// Checks one account against its entries, which must be passed in sequence order.
pub struct AccountAudit {
    stored: StoredAccount,
    last_sequence: i64,
    balance: i128,
    spent: i128,
}

impl AccountAudit {
    /// Starts with an account without entries.
    pub fn new(stored: StoredAccount) -> Self {
        Self { stored, last_sequence: 0, balance: 0, spent: 0 }
    }

    /// Continues with the account as a later snapshot contains it, which may have more entries.
    pub fn continue_with(self, stored: StoredAccount) -> Self {
        Self { stored, ..self }
    }

    /// The number of the last entry that was checked; 0 before the first.
    pub fn last_sequence(&self) -> i64 {
        self.last_sequence
    }

    /// Checks the next entry. Returns the balance after it.
    pub fn check_entry(&mut self, entry: &StoredAccountEntry, findings: &mut Findings) -> i128 {
        let name = || account_name(&self.stored);
        findings.require(entry.sequence == self.last_sequence + 1, "entry sequence", || {
            format!(
                "{} has entry {} after entry {}: an entry is missing or duplicated",
                name(),
                entry.sequence,
                self.last_sequence
            )
        });
        self.last_sequence = entry.sequence;
        let amount = i128::from(entry.amount);
        match entry.direction {
            Direction::Credit => self.balance += amount,
            Direction::Debit => {
                self.balance -= amount;
                if Reason::from_code(entry.reason).is_some_and(Reason::counts_as_spent) {
                    self.spent += amount;
                }
            }
        }
        let inside = AccountKind::from_code(self.stored.kind).is_some_and(|kind| !kind.is_outside());
        findings.require(!inside || self.balance >= 0, "never negative", || {
            format!("{} has {} nano-dollars after its entry {}", name(), self.balance, entry.sequence)
        });
        self.balance
    }

    /// Compares the recomputed values with the stored ones.
    pub fn check_totals(self, findings: &mut Findings) {
        let Self { stored, last_sequence, balance, spent } = self;
        let name = || account_name(&stored);
        findings.require(i128::from(stored.balance) == balance, "balance", || {
            format!(
                "{} has a balance of {} nano-dollars, but its entries add up to {balance}",
                name(),
                stored.balance
            )
        });
        findings.require(stored.entry_count == last_sequence, "entry count", || {
            format!(
                "{} has an entry count of {}, but its last entry is {last_sequence}",
                name(),
                stored.entry_count
            )
        });
        let spent = spent.min(i128::from(i64::MAX));
        findings.require(i128::from(stored.spent) == spent, "spent", || {
            format!(
                "{} has {} nano-dollars recorded as spent, but its entries add up to {spent}",
                name(),
                stored.spent
            )
        });
        findings.require(!stored.closed || stored.balance == 0, "balance of a closed account", || {
            format!("{} is closed but has {} nano-dollars", name(), stored.balance)
        });
    }
}

fn account_name(account: &StoredAccount) -> String {
    format!("{} of {}", AccountKind::stored_name(account.kind), account.owner)
}
