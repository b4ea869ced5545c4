//! `guerdon wallet`.

use guerdon_domain::money::Points;
use guerdon_domain::overrides::{ReplaceError, replace};
use guerdon_domain::values::UserId;
use guerdon_domain::wallets::WalletType;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::error::refusals;
use super::idempotent::{Keyed, once};
use super::{CommandError, Output, Runnable, View, Workplace};

/// The wallets by their names at the API.
#[derive(Debug, Clone, Copy, clap::ValueEnum, Serialize, Deserialize)]
pub(super) enum WalletName {
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

/// Replaces what a user's wallet holds; the difference comes from the company's reserve, or goes there.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
pub(crate) struct Override {
    /// The user.
    user_id: Uuid,
    /// Which wallet.
    #[arg(long, value_enum)]
    wallet: WalletName,
    /// What it holds afterwards.
    #[arg(long)]
    points: i64,
    #[command(flatten)]
    #[serde(flatten)]
    key: Keyed,
}

/// A wallet afterwards.
#[derive(Serialize, Deserialize)]
struct Replaced {
    user_id: Uuid,
    wallet: WalletName,
    points: i64,
}

impl View for Replaced {
    fn text(&self) -> String {
        format!(
            "the {} of user {} holds {} points",
            WalletType::from(self.wallet).name(),
            self.user_id,
            self.points
        )
    }
}

impl Runnable for Override {
    fn run(&self, workplace: &Workplace) -> Result<Output, CommandError> {
        let points = Points::new(self.points).ok_or(ReplaceError::OutOfRange)?;
        let (user, wallet) = (UserId::from_uuid(self.user_id), self.wallet);
        let what = ("wallet override", self.user_id, wallet, self.points);
        once(workplace, &self.key, &what, |tx, context| {
            replace(tx, user, wallet.into(), points, context)?;
            Ok(Replaced { user_id: self.user_id, wallet, points: self.points })
        })
    }
}

refusals!(ReplaceError);
