//! Arguments that several commands share, and how their values are read.

pub(crate) mod limit;
pub(crate) mod names;
pub(crate) mod order;
pub(crate) mod sum;
pub(crate) mod text_file;
pub(crate) mod time;
mod wallet_name;

pub(crate) use wallet_name::WalletName;
