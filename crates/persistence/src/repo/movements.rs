//! A wallet's history.

use diesel::prelude::*;
use diesel::sql_types::{BigInt, SmallInt};
use guerdon_domain::ports::{ReadMovements, StoreError};
use guerdon_domain::values::{Page, UserId};
use guerdon_domain::wallets::{Account, Reason, Transaction, WalletType};

use super::Unit;
use crate::rows::TransactionRow;
use crate::rows::types::{Id, Identifier};

/// The latest of both sides, each from its own index, merged by their places.
fn page_query() -> String {
    let place = super::super::place;
    let side = |direction: i16, name: &str| {
        format!(
            "SELECT * FROM (SELECT cause_id, {direction} AS direction, points, reason, created_at, \
             {name}_place AS place FROM transfers \
             WHERE {name}_owner = {owner} AND {name}_kind = {kind} AND reason <> {rounding} \
             ORDER BY {name}_place DESC LIMIT {end}) AS {name}s",
            owner = place(1),
            kind = place(2),
            rounding = Reason::Rounding.code(),
            end = place(3),
        )
    };
    let (debits, credits) = (side(0, "debit"), side(1, "credit"));
    let cast = super::super::SMALL;
    format!(
        "SELECT cause_id, CAST(direction AS {cast}) AS direction, points, reason, created_at \
         FROM ({debits} UNION ALL {credits}) AS both_sides ORDER BY place DESC LIMIT {} OFFSET {}",
        place(4),
        place(5),
    )
}

impl ReadMovements for Unit<'_> {
    fn transactions(
        &mut self,
        user: UserId,
        wallet: WalletType,
        page: Page,
    ) -> Result<Vec<Transaction>, StoreError> {
        let account = Account::Wallet(wallet, user);
        let end = page.offset().saturating_add(page.limit());
        let rows = self.query(|conn| {
            diesel::sql_query(page_query())
                .bind::<Identifier, _>(Id(account.owner()))
                .bind::<SmallInt, _>(account.kind().code())
                .bind::<BigInt, _>(end)
                .bind::<BigInt, _>(page.limit())
                .bind::<BigInt, _>(page.offset())
                .get_results::<TransactionRow>(conn)
        })?;
        self.keep(rows.into_iter().map(TransactionRow::read).collect())
    }
}
