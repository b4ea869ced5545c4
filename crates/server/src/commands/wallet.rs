//! `guerdon wallet`.

use guerdon_domain::commands::{Command, Done};
use guerdon_domain::overrides::ReplaceBalance;
use guerdon_domain::wallets::WalletType;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::idempotent::{Keyed, carry_out, unexpected};
use super::named::{UserName, company_of};
use super::output::Told;
use super::sum::{Sum, worth};
use super::{CommandError, Output, Runnable, View as _, Workplace};

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
        let kind = WalletType::from(wallet);
        let sum = self.sum.read()?;
        let command = Command::ReplaceBalance(ReplaceBalance { user_id: user, wallet: kind, sum });
        carry_out(workplace, (company.provider_id, command), &self.key, &what, move |done| {
            let Done::Replaced(it) = done else { return Err(unexpected(&done)) };
            let (before, now) = (worth(it.before, it.rate), worth(it.after, it.rate));
            let (name, domain) = (kind.name(), &company.domain);
            let text = format!("the {name} of user {user} of {domain}: before {before}, now {now}");
            let fields = Replaced { user_id: user.as_uuid(), wallet, points: it.points.get() };
            Told { fields, text }.output()
        })
    }
}
