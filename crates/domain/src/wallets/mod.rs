//! Wallets and the other accounts of the ledger.
//!
//! The ledger is double entry by construction: a transfer names the account that is debited and the one that is
//! credited, so half a movement cannot be written. Transfers are never changed; a correction is a new transfer.

mod account;
mod transaction;

pub use account::{Account, AccountKind, Wallet, WalletType};
pub use transaction::{Direction, Reason, Transaction};
