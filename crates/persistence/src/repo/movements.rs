//! An account's history.

use diesel::prelude::*;
use diesel::sql_types::{BigInt, SmallInt};
use guerdon_domain::ports::{ReadMovements, StoreError};
use guerdon_domain::values::Page;
use guerdon_domain::wallets::{Account, Reason, Transaction};

use super::super::{Conn, Db};
use super::Unit;
use crate::rows::TransactionRow;
use crate::rows::types::{Id, Identifier, Moment};
use crate::statement::statement;

statement! {
    /// The latest of both sides, each from its own index, merged by their places.
    Latest -> (Identifier, SmallInt, BigInt, SmallInt, Moment) {
        debited: Identifier = Id,
        debited_kind: SmallInt = i16,
        but_debits: SmallInt = i16,
        debits: BigInt = i64,
        credited: Identifier = Id,
        credited_kind: SmallInt = i16,
        but_credits: SmallInt = i16,
        credits: BigInt = i64,
        limit: BigInt = i64,
        offset: BigInt = i64,
    }
    "SELECT cause_id, CAST(direction AS SMALLINT), points, reason, created_at FROM (\
     SELECT * FROM (SELECT cause_id, 0 AS direction, points, reason, created_at, debit_place AS place FROM transfers \
     WHERE debit_owner = ? AND debit_kind = ? AND reason <> ? ORDER BY debit_place DESC LIMIT ?) AS debits UNION ALL \
     SELECT * FROM (SELECT cause_id, 1 AS direction, points, reason, created_at, credit_place AS place FROM transfers \
     WHERE credit_owner = ? AND credit_kind = ? AND reason <> ? ORDER BY credit_place DESC LIMIT ?) AS credits) \
     AS both_sides ORDER BY place DESC LIMIT ? OFFSET ?"
}

impl ReadMovements for Unit<'_> {
    fn transactions(&mut self, account: Account, page: Page) -> Result<Vec<Transaction>, StoreError> {
        let end = page.offset().saturating_add(page.limit());
        let (owner, kind, rounding) = (Id(account.owner()), account.kind().code(), Reason::Rounding.code());
        let latest = Latest {
            debited: owner,
            debited_kind: kind,
            but_debits: rounding,
            debits: end,
            credited: owner,
            credited_kind: kind,
            but_credits: rounding,
            credits: end,
            limit: page.limit(),
            offset: page.offset(),
        };
        let rows: Vec<TransactionRow> = self.query(|conn| latest.get_results(conn))?;
        self.keep(rows.into_iter().map(TransactionRow::read).collect())
    }
}
