//! The rules by which points move, without a database.
//!
//! An [`AccountBook`] holds the accounts that a payment touches. [`AccountBook::pay`] decides the payment and keeps what
//! becomes of the accounts, and the transfers. A store loads the accounts before it, and writes what has changed after it.

mod book;
mod pay;
mod rules;
mod state;
mod transfer;

pub use book::AccountBook;
pub use rules::PayError;
#[cfg(feature = "memory")]
pub(crate) use rules::require;
pub use state::AccountState;
pub use transfer::Transfer;
