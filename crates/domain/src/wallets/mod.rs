//! Wallets and the other accounts of the ledger.
//!
//! The ledger is double entry by construction: a transfer names the account that is debited and the one that is
//! credited, so half a movement cannot be written. Transfers are never changed; a correction is a new transfer.

mod account;
#[cfg(feature = "use-cases")]
mod open;
#[cfg(feature = "use-cases")]
mod replace;
mod transaction;

pub use account::{Account, AccountKind, Wallet, WalletType};
#[cfg(feature = "use-cases")]
pub use open::open_for_user;
#[cfg(feature = "use-cases")]
pub use replace::{ReplaceError, replace};
pub use transaction::{Direction, Reason, Transaction};
