//! Entries of an account's history.

use diesel::prelude::*;
use guerdon_domain::money::{Amount, Points, PointsPerDollar};
use guerdon_domain::ports::{AccountEntry, StoreError};
use guerdon_domain::values::JournalEntryId;
use guerdon_domain::wallets::{Direction, Reason};

use super::RowReader;
use super::types::{DbTimestamp, Id};

#[derive(Queryable)]
pub(crate) struct AccountEntryRow {
    journal_entry_id: Id<JournalEntryId>,
    sequence: i64,
    direction: i16,
    amount: i64,
    points: i64,
    points_per_dollar: i32,
    reason: i16,
    created_at: DbTimestamp,
}

impl AccountEntryRow {
    pub(crate) fn into_account_entry(self) -> Result<AccountEntry, StoreError> {
        let reader = RowReader { table: "transfers", id: &self.journal_entry_id.0 };
        let rate = PointsPerDollar::new(self.points_per_dollar.into());
        Ok(AccountEntry {
            sequence: self.sequence,
            journal_entry_id: self.journal_entry_id.0,
            direction: if self.direction == 0 { Direction::Debit } else { Direction::Credit },
            amount: Amount::from_nanodollars(self.amount),
            points: reader.require_valid("points", Points::new(self.points))?,
            rate: reader.require_valid("points_per_dollar", rate)?,
            reason: reader.require_valid("reason", Reason::from_code(self.reason))?,
            at: self.created_at.0,
        })
    }
}
