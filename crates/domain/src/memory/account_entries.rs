//! The history of an account.

use std::cmp::Reverse;

use super::MemoryTx;
use super::data::page_of;
use crate::ledger::Transfer;
use crate::ports::{AccountEntry, ReadAccountEntries, StoreError};
use crate::values::{Page, checked_cast};
use crate::wallets::{Account, Direction, Reason};

/// Converts a transfer to an entry of an account; `None` if it neither debits nor credits the account.
fn entry_of_account(transfer: &Transfer, account: Account) -> Option<AccountEntry> {
    let (direction, number) = match (transfer.debit, transfer.credit) {
        ((debit, number), _) if debit == account => (Direction::Debit, number),
        (_, (credit, number)) if credit == account => (Direction::Credit, number),
        _ => return None,
    };
    Some(AccountEntry {
        sequence: number,
        journal_entry_id: transfer.entry_id,
        direction,
        amount: transfer.amount,
        points: transfer.points,
        rate: transfer.rate,
        reason: transfer.reason,
        at: transfer.at,
    })
}

impl ReadAccountEntries for MemoryTx {
    fn list_account_entries(
        &mut self,
        account: Account,
        after: i64,
        limit: i64,
    ) -> Result<Vec<AccountEntry>, StoreError> {
        self.query(|data| {
            let entries =
                data.book.transfers().iter().filter_map(|transfer| entry_of_account(transfer, account));
            let mut entries: Vec<AccountEntry> = entries.filter(|entry| entry.sequence > after).collect();
            entries.sort_by_key(|entry| entry.sequence);
            entries.truncate(checked_cast(limit));
            entries
        })
    }

    fn list_transactions(&mut self, account: Account, page: Page) -> Result<Vec<AccountEntry>, StoreError> {
        self.query(|data| {
            let entries =
                data.book.transfers().iter().filter_map(|transfer| entry_of_account(transfer, account));
            let entries = entries.filter(|entry| entry.reason != Reason::Rounding);
            page_of(entries, |entry| Reverse(entry.sequence), page)
        })
    }
}
