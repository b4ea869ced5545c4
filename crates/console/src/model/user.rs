//! Users: ids, rights and points, without names and addresses.

use time::OffsetDateTime;

use super::ObjectReference;

/// The details of a user.
#[derive(Debug, Clone)]
pub struct User {
    pub id: String,
    pub company: ObjectReference,
    pub provider: ObjectReference,
    /// `manager`, `company administrator`, `corporation administrator`.
    pub rights: Vec<String>,
    pub created_at: OffsetDateTime,
    pub updated_at: OffsetDateTime,
    pub deleted_at: Option<OffsetDateTime>,
    pub wallets: Vec<UserWallet>,
    /// The newest movements of all wallets, newest first.
    pub movements: Vec<Movement>,
}

/// A wallet of a user.
#[derive(Debug, Clone)]
pub struct UserWallet {
    /// `user_wallet`, `peer_wallet` or `manager_wallet`.
    pub wallet: String,
    pub points: i64,
    pub dollars: String,
    /// All points that were ever spent from it.
    pub points_spent: i64,
}

/// A movement of points into or out of a wallet.
#[derive(Debug, Clone)]
pub struct Movement {
    pub at: OffsetDateTime,
    /// `user_wallet`, `peer_wallet` or `manager_wallet`.
    pub wallet: String,
    pub is_credit: bool,
    pub points: i64,
    /// Why the points moved, such as `recognition`.
    pub reason: String,
}
