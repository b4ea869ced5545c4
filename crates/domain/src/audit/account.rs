//! From its movements to what an account must hold.

use uuid::Uuid;

use crate::model::Findings;
use crate::values::CauseId;
use crate::wallets::{AccountKind, Reason};

/// An account as it is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Held {
    /// The user or company.
    pub owner: Uuid,
    pub kind: i16,
    /// What it says it holds, in nano-dollars.
    pub balance: i64,
    /// What it says it has spent.
    pub spent: i64,
    /// How many movements it says it had.
    pub movements: i64,
    pub closed: bool,
}

/// Which side of a transfer an account stands on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// It pays.
    Debit,
    /// It receives.
    Credit,
}

/// One movement of an account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Touch {
    pub side: Side,
    /// Where it stands among the movements of the account.
    pub place: i64,
    /// How much, in nano-dollars.
    pub amount: i64,
    /// The number of its reason.
    pub reason: i16,
    /// Why, in full.
    pub cause: CauseId,
}

/// Judges one account by its movements, which come in the order of their places.
pub struct AccountJudge {
    held: Held,
    last: i64,
    balance: i128,
    spent: i128,
}

impl AccountJudge {
    /// Begins with an account that had no movement yet.
    pub fn new(held: Held) -> Self {
        Self { held, last: 0, balance: 0, spent: 0 }
    }

    /// Takes the next movement; answers what the account then holds.
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
        let inside = AccountKind::from_code(self.held.kind).is_some_and(|it| !it.is_outside());
        findings.demand(!inside || self.balance >= 0, "never negative", || {
            format!("{} stands at {} nano-dollars after its movement {}", who(), self.balance, it.place)
        });
        self.balance
    }

    /// Compares what was reckoned with what is stored.
    pub fn end(self, findings: &mut Findings) {
        let Self { held, last, balance, spent } = self;
        let who = || name(&held);
        findings.demand(i128::from(held.balance) == balance, "balance", || {
            format!("{} says it holds {} nano-dollars, its movements say {balance}", who(), held.balance)
        });
        findings.demand(held.movements == last, "movements", || {
            format!("{} says it had {} movements, the last is {last}", who(), held.movements)
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
