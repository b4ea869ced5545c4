//! `guerdon wallet`.

use guerdon_domain::money::Points;
use guerdon_domain::overrides::{ReplaceError, replace};
use guerdon_domain::wallets::WalletType;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::error::refusals;
use super::idempotent::{Keyed, once};
use super::named::{UserName, company_of};
use super::output::Told;
use super::sum::{Sum, worth};
use super::{CommandError, Output, Runnable, Workplace};

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
    #[command(flatten)]
    #[serde(flatten)]
    user: UserName,
    /// Which wallet
    #[arg(long, value_enum)]
    wallet: WalletName,
    #[command(flatten)]
    #[serde(flatten)]
    sum: Sum,
    #[command(flatten)]
    #[serde(flatten)]
    key: Keyed,
}

/// A wallet afterwards.
#[derive(Serialize)]
struct Replaced {
    user_id: Uuid,
    wallet: WalletName,
    points: i64,
}

impl Runnable for Override {
    fn run(&self, workplace: &Workplace) -> Result<Output, CommandError> {
        let (user, wallet) = (self.user.id(workplace)?, self.wallet);
        let company = company_of(workplace, user)?;
        let what = ("wallet override", user.as_uuid(), wallet, &self.sum);
        once(workplace, &self.key, &what, |tx, context| {
            let (points, rate) = self.sum.at_rate_of(tx, company.id)?;
            let kind = WalletType::from(wallet);
            let held = tx.wallets(user)?.into_iter().find(|it| it.wallet_type == kind);
            replace(tx, user, kind, points, context)?;
            let before = worth(held.map_or(Points::ZERO, |it| it.points(rate)), rate);
            let (now, name, domain) = (worth(points, rate), kind.name(), company.domain.as_str());
            let text = format!("the {name} of user {user} of {domain}: before {before}, now {now}");
            Ok(Told { fields: Replaced { user_id: user.as_uuid(), wallet, points: points.get() }, text })
        })
    }
}

refusals!(ReplaceError);
