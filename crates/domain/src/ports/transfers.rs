//! A wallet's history.

use super::StoreError;
use crate::values::{Page, UserId};
use crate::wallets::{Transaction, WalletType};

/// Reading transfers.
pub trait ReadTransfers {
    /// A page of a wallet's transactions, newest first, ties by id; roundings are in no list.
    fn transactions(
        &mut self,
        user: UserId,
        wallet: WalletType,
        page: Page,
    ) -> Result<Vec<Transaction>, StoreError>;
}
