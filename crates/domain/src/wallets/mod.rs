//! Wallets and the other accounts of the ledger.
//!
//! The ledger is double-entry by construction: a transfer names both the debited and the credited account, so
//! half a movement cannot be written. Transfers never change; a correction is a new transfer.

mod account;
mod reason;

pub use account::{Account, AccountKind, Wallet, WalletType};
pub use reason::{Direction, Reason};
