//! Movements, as an account shows them.

use diesel::prelude::*;
use guerdon_domain::money::Points;
use guerdon_domain::ports::StoreError;
use guerdon_domain::values::CauseId;
use guerdon_domain::wallets::{Direction, Reason, Transaction};

use super::Reading;
use super::types::{At, Id};

#[derive(Queryable)]
pub(crate) struct TransactionRow {
    cause_id: Id<CauseId>,
    direction: i16,
    points: i64,
    reason: i16,
    created_at: At,
}

impl TransactionRow {
    pub(crate) fn read(self) -> Result<Transaction, StoreError> {
        let reading = Reading { table: "transfers", id: &self.cause_id.0 };
        Ok(Transaction {
            direction: if self.direction == 0 { Direction::Debit } else { Direction::Credit },
            points: reading.make("points", Points::new(self.points))?,
            reason: reading.make("reason", Reason::from_code(self.reason))?,
            created_at: self.created_at.0,
        })
    }
}
