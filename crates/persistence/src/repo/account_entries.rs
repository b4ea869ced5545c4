//! The history of an account.

use diesel::prelude::*;
use diesel::sql_types::{BigInt, Integer, SmallInt};
use guerdon_domain::ports::{AccountEntry, ReadAccountEntries, StoreError};
use guerdon_domain::values::Page;
use guerdon_domain::wallets::{Account, Reason};

use super::super::{Conn, Db};
use super::Unit;
use crate::rows::AccountEntryRow;
use crate::rows::types::{Id, Identifier, SqlTimestamp};
use crate::statement::statement;

statement! {
    /// Selects the latest entries of an account. Debits and credits are read from separate indexes and merged
    /// by entry number.
    LatestEntries -> (Identifier, BigInt, SmallInt, BigInt, BigInt, Integer, SmallInt, SqlTimestamp) {
        debited: Identifier = Id,
        debited_kind: SmallInt = i16,
        excluded_debit_reason: SmallInt = i16,
        debits: BigInt = i64,
        credited: Identifier = Id,
        credited_kind: SmallInt = i16,
        excluded_credit_reason: SmallInt = i16,
        credits: BigInt = i64,
        limit: BigInt = i64,
        offset: BigInt = i64,
    }
    "SELECT journal_entry_id, sequence, CAST(direction AS SMALLINT), amount, points, points_per_dollar, reason, created_at FROM (\
     SELECT * FROM (SELECT journal_entry_id, debit_sequence AS sequence, 0 AS direction, amount, points, points_per_dollar, reason, \
     created_at FROM transfers WHERE debit_owner = ? AND debit_kind = ? AND reason <> ? ORDER BY debit_sequence DESC LIMIT ?) AS debits UNION ALL \
     SELECT * FROM (SELECT journal_entry_id, credit_sequence AS sequence, 1 AS direction, amount, points, points_per_dollar, reason, \
     created_at FROM transfers WHERE credit_owner = ? AND credit_kind = ? AND reason <> ? ORDER BY credit_sequence DESC LIMIT ?) AS credits) \
     AS both_sides ORDER BY sequence DESC LIMIT ? OFFSET ?"
}

statement! {
    /// Selects the next entries of an account. Debits and credits are read from separate indexes and merged
    /// by entry number.
    NextEntries -> (Identifier, BigInt, SmallInt, BigInt, BigInt, Integer, SmallInt, SqlTimestamp) {
        debited: Identifier = Id,
        debited_kind: SmallInt = i16,
        after_debit: BigInt = i64,
        debits: BigInt = i64,
        credited: Identifier = Id,
        credited_kind: SmallInt = i16,
        after_credit: BigInt = i64,
        credits: BigInt = i64,
        limit: BigInt = i64,
    }
    "SELECT journal_entry_id, sequence, CAST(direction AS SMALLINT), amount, points, points_per_dollar, reason, created_at FROM (\
     SELECT * FROM (SELECT journal_entry_id, debit_sequence AS sequence, 0 AS direction, amount, points, points_per_dollar, reason, \
     created_at FROM transfers WHERE debit_owner = ? AND debit_kind = ? AND debit_sequence > ? \
     ORDER BY debit_sequence LIMIT ?) AS debits UNION ALL \
     SELECT * FROM (SELECT journal_entry_id, credit_sequence AS sequence, 1 AS direction, amount, points, points_per_dollar, reason, \
     created_at FROM transfers WHERE credit_owner = ? AND credit_kind = ? AND credit_sequence > ? \
     ORDER BY credit_sequence LIMIT ?) AS credits) AS both_sides ORDER BY sequence LIMIT ?"
}

impl ReadAccountEntries for Unit<'_> {
    fn list_account_entries(
        &mut self,
        account: Account,
        after: i64,
        limit: i64,
    ) -> Result<Vec<AccountEntry>, StoreError> {
        self.query(super::disable_statement_timeout)?;
        let (owner, kind) = (Id(account.owner_id()), account.kind().code());
        let next = NextEntries {
            debited: owner,
            debited_kind: kind,
            after_debit: after,
            debits: limit,
            credited: owner,
            credited_kind: kind,
            after_credit: after,
            credits: limit,
            limit,
        };
        self.list(AccountEntryRow::into_account_entry, |conn| next.get_results(conn))
    }

    fn list_transactions(&mut self, account: Account, page: Page) -> Result<Vec<AccountEntry>, StoreError> {
        let end = page.offset().saturating_add(page.limit());
        let (owner, kind, rounding) =
            (Id(account.owner_id()), account.kind().code(), Reason::Rounding.code());
        let latest = LatestEntries {
            debited: owner,
            debited_kind: kind,
            excluded_debit_reason: rounding,
            debits: end,
            credited: owner,
            credited_kind: kind,
            excluded_credit_reason: rounding,
            credits: end,
            limit: page.limit(),
            offset: page.offset(),
        };
        self.list(AccountEntryRow::into_account_entry, |conn| latest.get_results(conn))
    }
}
