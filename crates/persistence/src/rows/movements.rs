//! Movements, as an account shows them.

use diesel::prelude::*;
use diesel::sql_types::{BigInt, SmallInt};
use guerdon_domain::money::Points;
use guerdon_domain::ports::StoreError;
use guerdon_domain::values::CauseId;
use guerdon_domain::wallets::{Direction, Reason, Transaction};

use super::Reading;
use super::types::{At, Id, Identifier, Moment};

#[derive(QueryableByName)]
pub(crate) struct TransactionRow {
    #[diesel(sql_type = Identifier)]
    cause_id: Id<CauseId>,
    #[diesel(sql_type = SmallInt)]
    direction: i16,
    #[diesel(sql_type = BigInt)]
    points: i64,
    #[diesel(sql_type = SmallInt)]
    reason: i16,
    #[diesel(sql_type = Moment)]
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
