//! The names of a user's wallets on the command line.

use guerdon_domain::wallets::WalletType;
use serde::{Deserialize, Serialize};

/// The wallets by the names that the API uses.
#[derive(Debug, Clone, Copy, clap::ValueEnum, Serialize, Deserialize)]
pub(crate) enum WalletName {
    /// Points earned, to be spent on rewards.
    #[serde(rename = "user_wallet")]
    #[value(name = "user_wallet")]
    User,
    /// Points to send to others.
    #[serde(rename = "peer_wallet")]
    #[value(name = "peer_wallet")]
    Peer,
    /// Points that a manager can send.
    #[serde(rename = "manager_wallet")]
    #[value(name = "manager_wallet")]
    Manager,
}

impl From<WalletName> for WalletType {
    fn from(name: WalletName) -> Self {
        match name {
            WalletName::User => Self::User,
            WalletName::Peer => Self::Peer,
            WalletName::Manager => Self::Manager,
        }
    }
}
