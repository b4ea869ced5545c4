//! Account statements: the opening balance, the entries with the balance after each, and the closing balance.

use crate::money::{Amount, PointsPerDollar};
use crate::ports::{AccountEntry, ReadAccounts, StoreError};
use crate::values::Timestamp;
use crate::wallets::{Account, Direction};

/// The number of entries that are read together.
const ENTRIES_PER_PAGE: i64 = 1_000;

/// The start (inclusive) and end (exclusive) of a statement; `None` means from the beginning, or up to the
/// last entry.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StatementPeriod {
    pub from: Option<Timestamp>,
    pub to: Option<Timestamp>,
}

/// A line of a statement. The order is: one opening, the entries, one closing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StatementLine {
    /// The balance before the first entry, and the rate of the last entry before the statement, if any.
    Opening { balance: Amount, rate: Option<PointsPerDollar> },
    /// An entry, and the balance after it.
    Entry { entry: AccountEntry, balance: Amount },
    /// The balance after the last entry, and the rate of that entry, if any.
    Closing { balance: Amount, rate: Option<PointsPerDollar> },
}

/// Calls `visit` for each line of an account's statement, until `visit` returns an error. The statement of a
/// past period never changes, because entries never change, and a new entry has the time at which its points move. If
/// the clock was set back, an entry that is earlier than its predecessor belongs to the period of its predecessor, so
/// that consecutive statements contain every entry once.
pub fn visit_statement<R: ReadAccounts + ?Sized, E: From<StoreError>>(
    reads: &mut R,
    account: Account,
    period: StatementPeriod,
    visit: &mut dyn FnMut(StatementLine) -> Result<(), E>,
) -> Result<(), E> {
    let (mut last_sequence, mut balance, mut rate) = (0, Amount::ZERO, None);
    let mut has_opened = false;
    'all: loop {
        let entries = reads.list_account_entries(account, last_sequence, ENTRIES_PER_PAGE)?;
        let Some(last_entry) = entries.last() else { break };
        last_sequence = last_entry.sequence;
        for entry in entries {
            if period.to.is_some_and(|to| entry.transaction.at >= to) {
                break 'all;
            }
            let is_in_period = period.from.is_none_or(|from| entry.transaction.at >= from);
            if is_in_period && !std::mem::replace(&mut has_opened, true) {
                visit(StatementLine::Opening { balance, rate })?;
            }
            balance = balance_after(balance, &entry)?;
            rate = Some(entry.rate);
            if has_opened {
                visit(StatementLine::Entry { entry, balance })?;
            }
        }
    }
    if !has_opened {
        visit(StatementLine::Opening { balance, rate })?;
    }
    visit(StatementLine::Closing { balance, rate })
}

fn balance_after(balance: Amount, entry: &AccountEntry) -> Result<Amount, StoreError> {
    let balance_after = match entry.transaction.direction {
        Direction::Credit => balance.checked_add(entry.amount),
        Direction::Debit => balance.checked_sub(entry.amount),
    };
    balance_after.ok_or_else(|| {
        StoreError::Broken("the entries of an account add up to more than the largest amount".into())
    })
}
