//! Entries of an account's history.

use diesel::prelude::*;
use guerdon_domain::money::{Amount, Points, PointsPerDollar};
use guerdon_domain::ports::{LedgerLine, StoreError};
use guerdon_domain::values::JournalEntryId;
use guerdon_domain::wallets::{Direction, Reason, Transaction};

use super::Reading;
use super::types::{At, Id};

#[derive(Queryable)]
pub(crate) struct TransactionRow {
    journal_entry_id: Id<JournalEntryId>,
    direction: i16,
    points: i64,
    reason: i16,
    created_at: At,
}

impl TransactionRow {
    pub(crate) fn read(self) -> Result<Transaction, StoreError> {
        let reading = Reading { table: "transfers", id: &self.journal_entry_id.0 };
        Ok(Transaction {
            direction: if self.direction == 0 { Direction::Debit } else { Direction::Credit },
            points: reading.make("points", Points::new(self.points))?,
            reason: reading.make("reason", Reason::from_code(self.reason))?,
            created_at: self.created_at.0,
        })
    }
}

#[derive(Queryable)]
pub(crate) struct LedgerLineRow {
    journal_entry_id: Id<JournalEntryId>,
    place: i64,
    direction: i16,
    amount: i64,
    points: i64,
    points_per_dollar: i32,
    reason: i16,
    created_at: At,
}

impl LedgerLineRow {
    pub(crate) fn read(self) -> Result<LedgerLine, StoreError> {
        let reading = Reading { table: "transfers", id: &self.journal_entry_id.0 };
        let rate = PointsPerDollar::new(self.points_per_dollar.into());
        Ok(LedgerLine {
            place: self.place,
            cause: self.journal_entry_id.0,
            direction: if self.direction == 0 { Direction::Debit } else { Direction::Credit },
            amount: Amount::from_nanodollars(self.amount),
            points: reading.make("points", Points::new(self.points))?,
            rate: reading.make("points_per_dollar", rate)?,
            reason: reading.make("reason", Reason::from_code(self.reason))?,
            at: self.created_at.0,
        })
    }
}
