//! A wallet (behaviour 17.2).

use guerdon_domain::money::{Points, PointsPerDollar};
use guerdon_domain::wallets::{Wallet, WalletType};
use schemars::JsonSchema;
use serde::Serialize;

use crate::WireValue;

/// A wallet with its points at the current rate.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Wallet")]
pub struct WalletView {
    /// The type of wallet: earned points, points to send, or a manager's points to send.
    /// Example: `"peer_wallet"`
    #[schemars(with = "WireValue<WalletType>")]
    r#type: &'static str,
    /// The balance at the current rate. Example: `500`
    #[schemars(with = "WireValue<Points>")]
    points: i64,
    /// All points ever spent from the wallet, at the current rate. Example: `40`
    #[schemars(with = "WireValue<Points>")]
    cumulative_points_spent: i64,
}

impl WalletView {
    pub fn from_wallet(wallet: &Wallet, rate: PointsPerDollar) -> Self {
        Self {
            r#type: wallet.wallet_type.name(),
            points: wallet.points_at(rate).get(),
            cumulative_points_spent: wallet.points_spent(rate).get(),
        }
    }
}
