//! Wallets and their transactions.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// The type of an account that holds points (behaviour 17.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum WalletType {
    /// Points that a user has earned and can spend.
    UserWallet,
    /// Points that a user can send to others.
    PeerWallet,
    /// Points that a manager can send.
    ManagerWallet,
    /// The reserve of a company.
    Reserve,
    /// A type that this version does not know.
    #[serde(other)]
    Unknown,
}

impl WalletType {
    /// The name in the API, such as `user_wallet`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::UserWallet => "user_wallet",
            Self::PeerWallet => "peer_wallet",
            Self::ManagerWallet => "manager_wallet",
            Self::Reserve => "reserve",
            Self::Unknown => "unknown",
        }
    }
}

/// A wallet of a user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Wallet {
    pub r#type: WalletType,
    pub points: i64,
    /// All points ever spent from the wallet.
    pub cumulative_points_spent: i64,
}

/// The wallets of a user.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Balances {
    /// The user.
    pub id: Uuid,
    pub wallets: Vec<Wallet>,
}

impl Balances {
    /// The points in a wallet; `None` if the user does not have this wallet.
    pub fn points(&self, wallet: WalletType) -> Option<i64> {
        self.wallets.iter().find(|entry| entry.r#type == wallet).map(|entry| entry.points)
    }
}

/// A movement of points (behaviour 17.5).
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Transaction {
    pub r#type: TransactionType,
    /// The points that moved, at the rate of that time.
    pub points: i64,
    /// Why the points moved, such as `recognition` or `redemption`.
    pub reason: String,
    pub created_at: String,
}

/// The direction of a movement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TransactionType {
    /// Points moved out of the wallet.
    Debit,
    /// Points moved into the wallet.
    Credit,
}
