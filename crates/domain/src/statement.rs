//! An account's movements with the balance after each: what opened, what moved, what closed.

use crate::money::{Amount, PointsPerDollar};
use crate::ports::{LedgerLine, ReadMovements, StoreError};
use crate::values::Timestamp;
use crate::wallets::{Account, Direction};

/// How many movements are read at once.
const PAGE: i64 = 1_000;

/// From when on, and before when; none is from the beginning, or up to the last.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Period {
    pub from: Option<Timestamp>,
    pub to: Option<Timestamp>,
}

/// What a statement tells, in this order: one opening, the movements, one closing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entry {
    /// What the account held before the first movement, and the rate of the one before it, if there is one.
    Opening { balance: Amount, rate: Option<PointsPerDollar> },
    /// A movement, and what the account held after it.
    Line { line: LedgerLine, balance: Amount },
    /// What it held after the last movement.
    Closing { balance: Amount, rate: Option<PointsPerDollar> },
}

/// Tells an account's statement, entry by entry, until `tell` answers an error. Two of the same period are the same for
/// ever, once the period is over: movements are never changed, and none comes in between.
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
