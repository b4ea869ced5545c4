//! The history of an account.

use diesel::prelude::*;
use diesel::sql_types::{BigInt, Integer, SmallInt};
use guerdon_domain::ports::{LedgerLine, ReadMovements, StoreError};
use guerdon_domain::values::Page;
use guerdon_domain::wallets::{Account, Reason, Transaction};

use super::super::{Conn, Db};
use super::Unit;
use crate::rows::types::{Id, Identifier, Moment};
use crate::rows::{LedgerLineRow, TransactionRow};
use crate::statement::statement;

statement! {
    /// The latest entries of both sides, each from its own index, merged by their numbers.
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
    "SELECT journal_entry_id, CAST(direction AS SMALLINT), points, reason, created_at FROM (\
     SELECT * FROM (SELECT journal_entry_id, 0 AS direction, points, reason, created_at, debit_sequence AS place FROM transfers \
     WHERE debit_owner = ? AND debit_kind = ? AND reason <> ? ORDER BY debit_sequence DESC LIMIT ?) AS debits UNION ALL \
     SELECT * FROM (SELECT journal_entry_id, 1 AS direction, points, reason, created_at, credit_sequence AS place FROM transfers \
     WHERE credit_owner = ? AND credit_kind = ? AND reason <> ? ORDER BY credit_sequence DESC LIMIT ?) AS credits) \
     AS both_sides ORDER BY place DESC LIMIT ? OFFSET ?"
}

statement! {
    /// The next entries of both sides, each from its own index, merged by their numbers.
    Next -> (Identifier, BigInt, SmallInt, BigInt, BigInt, Integer, SmallInt, Moment) {
        debited: Identifier = Id,
        debited_kind: SmallInt = i16,
        behind_debit: BigInt = i64,
        debits: BigInt = i64,
        credited: Identifier = Id,
        credited_kind: SmallInt = i16,
        behind_credit: BigInt = i64,
        credits: BigInt = i64,
        limit: BigInt = i64,
    }
    "SELECT journal_entry_id, place, CAST(direction AS SMALLINT), amount, points, points_per_dollar, reason, created_at FROM (\
     SELECT * FROM (SELECT journal_entry_id, debit_sequence AS place, 0 AS direction, amount, points, points_per_dollar, reason, \
     created_at FROM transfers WHERE debit_owner = ? AND debit_kind = ? AND debit_sequence > ? \
     ORDER BY debit_sequence LIMIT ?) AS debits UNION ALL \
     SELECT * FROM (SELECT journal_entry_id, credit_sequence AS place, 1 AS direction, amount, points, points_per_dollar, reason, \
     created_at FROM transfers WHERE credit_owner = ? AND credit_kind = ? AND credit_sequence > ? \
     ORDER BY credit_sequence LIMIT ?) AS credits) AS both_sides ORDER BY place LIMIT ?"
}

impl ReadMovements for Unit<'_> {
    fn ledger_lines(
        &mut self,
        account: Account,
        behind: i64,
        limit: i64,
    ) -> Result<Vec<LedgerLine>, StoreError> {
        self.query(super::super::lift_time_limit)?;
        let (owner, kind) = (Id(account.owner()), account.kind().code());
        let next = Next {
            debited: owner,
            debited_kind: kind,
            behind_debit: behind,
            debits: limit,
            credited: owner,
            credited_kind: kind,
            behind_credit: behind,
            credits: limit,
            limit,
        };
        let rows: Vec<LedgerLineRow> = self.query(|conn| next.get_results(conn))?;
        self.keep(rows.into_iter().map(LedgerLineRow::read).collect())
    }

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
