//! An account's history.

use super::StoreError;
use crate::values::Page;
use crate::wallets::{Account, Transaction};

pub trait ReadMovements {
    /// A page of an account's transactions in the order in which they took effect, the last first; roundings are in no
    /// list.
    fn transactions(&mut self, account: Account, page: Page) -> Result<Vec<Transaction>, StoreError>;
}
