//! An account's history.

use std::cmp::Reverse;

use super::Unit;
use super::data::page_of;
use crate::ports::{ReadMovements, StoreError};
use crate::values::Page;
use crate::wallets::{Account, Direction, Reason, Transaction};

impl ReadMovements for Unit {
    fn transactions(&mut self, account: Account, page: Page) -> Result<Vec<Transaction>, StoreError> {
        self.read(|data| {
            let told = data.books.transfers().iter().filter(|it| it.reason != Reason::Rounding);
            let seen = told.filter_map(|it| {
                let (direction, place) = match (it.debit, it.credit) {
                    ((debit, place), _) if debit == account => (Direction::Debit, place),
                    (_, (credit, place)) if credit == account => (Direction::Credit, place),
                    _ => return None,
                };
                let (points, reason, created_at) = (it.points, it.reason, it.at);
                Some((place, Transaction { direction, points, reason, created_at }))
            });
            page_of(seen, |it| Reverse(it.0), page).into_iter().map(|(_, it)| it).collect()
        })
    }
}
