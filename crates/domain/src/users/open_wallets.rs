//! Opening a user's wallets.

use crate::model::User;
use crate::ports::{Accounts, StoreError, Timestamp};
use crate::wallets::{Account, WalletType};

/// Opens the wallets a new user has: user and peer, and the manager's for a manager (behaviour 17.1).
pub fn open_wallets<T: Accounts + ?Sized>(tx: &mut T, user: &User, at: Timestamp) -> Result<(), StoreError> {
    let types =
        WalletType::ALL.iter().copied().filter(|it| *it != WalletType::Manager || user.profile.manager);
    let accounts: Vec<Account> = types.map(|it| Account::Wallet(it, user.id)).collect();
    tx.open(user.company_id, &accounts, at)
}
