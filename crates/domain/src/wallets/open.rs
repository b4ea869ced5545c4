//! Opening a user's wallets.

use super::{Account, WalletType};
use crate::ports::{StoreError, Timestamp, Tx};
use crate::users::User;

/// Opens the wallets a new user has: user and peer, and the manager's for a manager (behaviour 17.1).
pub fn open_for_user(tx: &mut dyn Tx, user: &User, at: Timestamp) -> Result<(), StoreError> {
    let types = WalletType::ALL.into_iter().filter(|it| *it != WalletType::Manager || user.profile.manager);
    let accounts: Vec<Account> = types.map(|it| Account::Wallet(it, user.id)).collect();
    tx.open(user.company_id, &accounts, at)
}
