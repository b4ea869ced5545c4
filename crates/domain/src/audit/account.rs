//! Recomputes what an account must hold from its entries.

use uuid::Uuid;

use crate::model::Findings;
use crate::values::JournalEntryId;
use crate::wallets::{AccountKind, Reason};

/// An account as it is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Held {
    /// The user or company.
    pub owner: Uuid,
    pub kind: i16,
    /// The stored balance in nano-dollars.
    pub balance: i64,
    /// The stored total of its debits.
    pub spent: i64,
    /// The stored number of its entries.
    pub entry_count: i64,
    pub closed: bool,
}

/// The side of a transfer on which an account is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The account pays.
    Debit,
    /// The account receives.
    Credit,
}

/// One entry of an account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Touch {
    pub side: Side,
    /// The number of the entry in the account's history.
    pub place: i64,
    /// The amount in nano-dollars.
    pub amount: i64,
    /// The number of the reason.
    pub reason: i16,
    /// The journal entry.
    pub cause: JournalEntryId,
}

/// Checks one account against its entries, which must come in the order of their numbers.
pub struct AccountJudge {
    held: Held,
    last: i64,
    balance: i128,
    spent: i128,
}

impl AccountJudge {
    /// Starts with an account without entries.
    pub fn new(held: Held) -> Self {
        Self { held, last: 0, balance: 0, spent: 0 }
    }

    /// Takes the next entry. Returns the balance after it.
    pub fn touch(&mut self, it: &Touch, findings: &mut Findings) -> i128 {
        let who = || name(&self.held);
        findings.demand(it.place == self.last + 1, "places", || {
            format!("{} has place {} after {}: a movement is missing or doubled", who(), it.place, self.last)
        });
        self.last = it.place;
        let amount = i128::from(it.amount);
        match it.side {
            Side::Credit => self.balance += amount,
            Side::Debit => {
                self.balance -= amount;
                if Reason::from_code(it.reason).is_some_and(Reason::counts_as_spent) {
                    self.spent += amount;
                }
            }
        }
        let inside = AccountKind::from_code(self.held.kind).is_some_and(|kind| !kind.is_outside());
        findings.demand(!inside || self.balance >= 0, "never negative", || {
            format!("{} stands at {} nano-dollars after its movement {}", who(), self.balance, it.place)
        });
        self.balance
    }

    /// Compares the recomputed values with the stored ones.
    pub fn end(self, findings: &mut Findings) {
        let Self { held, last, balance, spent } = self;
        let who = || name(&held);
        findings.demand(i128::from(held.balance) == balance, "balance", || {
            format!("{} says it holds {} nano-dollars, its movements say {balance}", who(), held.balance)
        });
        findings.demand(held.entry_count == last, "entry_count", || {
            format!("{} says it had {} movements, the last is {last}", who(), held.entry_count)
        });
        let spent = spent.min(i128::from(i64::MAX));
        findings.demand(i128::from(held.spent) == spent, "spent", || {
            format!("{} says it has spent {} nano-dollars, its movements say {spent}", who(), held.spent)
        });
        findings.demand(!held.closed || held.balance == 0, "closed at zero", || {
            format!("{} is closed and holds {} nano-dollars", who(), held.balance)
        });
    }
}

fn name(held: &Held) -> String {
    format!("{} of {}", AccountKind::stored_name(held.kind), held.owner)
}
