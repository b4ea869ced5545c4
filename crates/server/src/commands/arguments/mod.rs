//! Arguments that several commands share, and how their values are read.

pub(crate) mod identifiers;
pub(crate) mod limit;
pub(crate) mod payment;
pub(crate) mod points_argument;
pub(crate) mod text_file;
pub(crate) mod time;
mod wallet_name;

pub(crate) use wallet_name::WalletName;
