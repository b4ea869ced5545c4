//! A wallet (behaviour 17.2).

use guerdon_domain::money::PointsPerDollar;
use guerdon_domain::wallets::Wallet;
use serde::Serialize;

/// A wallet at a rate.
#[derive(Serialize)]
pub(crate) struct WalletView {
    r#type: &'static str,
    points: i64,
    cumulative_points_spent: i64,
}

impl WalletView {
    pub(crate) fn of(wallet: &Wallet, rate: PointsPerDollar) -> Self {
        Self {
            r#type: wallet.wallet_type.name(),
            points: wallet.points(rate).get(),
            cumulative_points_spent: wallet.points_spent(rate).get(),
        }
    }
}
