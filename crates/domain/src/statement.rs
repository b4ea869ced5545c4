//! Account statements: the opening balance, the entries with the balance after each, and the closing balance.

use crate::money::{Amount, PointsPerDollar};
use crate::ports::{LedgerLine, ReadMovements, StoreError};
use crate::values::Timestamp;
use crate::wallets::{Account, Direction};

/// The number of entries that are read together.
const PAGE: i64 = 1_000;

/// The start (inclusive) and end (exclusive) of a statement; `None` means from the beginning, or up to the
/// last entry.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Period {
    pub from: Option<Timestamp>,
    pub to: Option<Timestamp>,
}

/// A line of a statement. The order is: one opening, the entries, one closing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entry {
    /// The balance before the first entry, and the rate of the entry before it, if any.
    Opening { balance: Amount, rate: Option<PointsPerDollar> },
    /// An entry, and the balance after it.
    Line { line: LedgerLine, balance: Amount },
    /// The balance after the last entry.
    Closing { balance: Amount, rate: Option<PointsPerDollar> },
}

/// Calls `tell` for each line of an account's statement, until it returns an error. Statements of a past
/// period are always the same: entries never change, and none is inserted later.
pub fn statement<R: ReadMovements + ?Sized, E: From<StoreError>>(
    reads: &mut R,
    account: Account,
    period: Period,
    tell: &mut dyn FnMut(Entry) -> Result<(), E>,
) -> Result<(), E> {
    let (mut behind, mut balance, mut rate) = (0, Amount::ZERO, None);
    let mut has_opened = false;
    'all: loop {
        let lines = reads.ledger_lines(account, behind, PAGE)?;
        let Some(last) = lines.last() else { break };
        behind = last.place;
        for line in lines {
            if period.to.is_some_and(|to| line.at >= to) {
                break 'all;
            }
            let is_wanted = period.from.is_none_or(|from| line.at >= from);
            if is_wanted && !std::mem::replace(&mut has_opened, true) {
                tell(Entry::Opening { balance, rate })?;
            }
            balance = after(balance, &line)?;
            rate = Some(line.rate);
            if has_opened {
                tell(Entry::Line { line, balance })?;
            }
        }
    }
    if !has_opened {
        tell(Entry::Opening { balance, rate })?;
    }
    tell(Entry::Closing { balance, rate })
}

fn after(balance: Amount, line: &LedgerLine) -> Result<Amount, StoreError> {
    let after = match line.direction {
        Direction::Credit => balance.checked_add(line.amount),
        Direction::Debit => balance.checked_sub(line.amount),
    };
    after.ok_or_else(|| StoreError::Broken("an account's movements sum to more than an amount holds".into()))
}
