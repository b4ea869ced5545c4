//! A wallet (behaviour 17.2).

use guerdon_domain::money::{Points, PointsPerDollar};
use guerdon_domain::wallets::{Wallet, WalletType};
use schemars::JsonSchema;
use serde::Serialize;

use crate::Shown;

/// A wallet at a rate.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Wallet")]
pub struct WalletView {
    /// What the wallet is for: earned points to spend, points to send to others, or a manager's points to send.
    /// Example: `"peer_wallet"`
    #[schemars(with = "Shown<WalletType>")]
    r#type: &'static str,
    /// What is in it, at today's rate. Example: `500`
    #[schemars(with = "Shown<Points>")]
    points: i64,
    /// What was ever spent from it, at today's rate. Example: `40`
    #[schemars(with = "Shown<Points>")]
    cumulative_points_spent: i64,
}

impl WalletView {
    pub fn of(wallet: &Wallet, rate: PointsPerDollar) -> Self {
        Self {
            r#type: wallet.wallet_type.name(),
            points: wallet.points(rate).get(),
            cumulative_points_spent: wallet.points_spent(rate).get(),
        }
    }
}
