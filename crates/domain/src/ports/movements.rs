//! A wallet's history.

use super::StoreError;
use crate::values::{Page, UserId};
use crate::wallets::{Transaction, WalletType};

pub trait ReadMovements {
    /// A page of a wallet's transactions in the order in which they took effect, the last first; roundings are in no
    /// list.
    fn transactions(
        &mut self,
        user: UserId,
        wallet: WalletType,
        page: Page,
    ) -> Result<Vec<Transaction>, StoreError>;
}
