//! Opening a user's wallets.

use crate::model::User;
use crate::ports::{Accounts, StoreError, Timestamp};
use crate::wallets::{Account, WalletType};

/// Opens the wallets of a new user.
pub fn open_wallets<T: Accounts + ?Sized>(tx: &mut T, user: &User, at: Timestamp) -> Result<(), StoreError> {
    tx.open_accounts(user.company_id, &wallets_of(user).collect::<Vec<_>>(), at)
}

/// The wallets of a new user: user and peer, and the manager wallet for a manager (behaviour 17.1).
pub fn wallets_of(user: &User) -> impl Iterator<Item = Account> {
    let types = WalletType::ALL
        .iter()
        .copied()
        .filter(|wallet| *wallet != WalletType::Manager || user.profile.manager);
    types.map(|wallet| Account::Wallet(wallet, user.id))
}
