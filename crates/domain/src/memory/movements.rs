//! The history of an account.

use std::cmp::Reverse;

use super::Unit;
use super::data::page_of;
use crate::ledger::Transfer;
use crate::ports::{LedgerLine, ReadMovements, StoreError};
use crate::values::{Page, fit};
use crate::wallets::{Account, Direction, Reason, Transaction};

/// A transfer as an entry of an account, if it debits or credits the account.
fn line(it: &Transfer, account: Account) -> Option<LedgerLine> {
    let (direction, place) = match (it.debit, it.credit) {
        ((debit, place), _) if debit == account => (Direction::Debit, place),
        (_, (credit, place)) if credit == account => (Direction::Credit, place),
        _ => return None,
    };
    Some(LedgerLine {
        place,
        cause: it.cause,
        direction,
        amount: it.amount,
        points: it.points,
        rate: it.rate,
        reason: it.reason,
        at: it.at,
    })
}

impl ReadMovements for Unit {
    fn ledger_lines(
        &mut self,
        account: Account,
        behind: i64,
        limit: i64,
    ) -> Result<Vec<LedgerLine>, StoreError> {
        self.read(|data| {
            let lines = data.book.transfers().iter().filter_map(|transfer| line(transfer, account));
            let mut lines: Vec<LedgerLine> = lines.filter(|line| line.place > behind).collect();
            lines.sort_by_key(|line| line.place);
            lines.truncate(fit(limit));
            lines
        })
    }

    fn transactions(&mut self, account: Account, page: Page) -> Result<Vec<Transaction>, StoreError> {
        self.read(|data| {
            let told = data.book.transfers().iter().filter_map(|transfer| line(transfer, account));
            let told = told.filter(|line| line.reason != Reason::Rounding);
            let told = page_of(told, |item| Reverse(item.place), page).into_iter();
            told.map(|line| Transaction {
                direction: line.direction,
                points: line.points,
                reason: line.reason,
                created_at: line.at,
            })
            .collect()
        })
    }
}
