//! `guerdon redemption`.

use guerdon_domain::money::{Points, PointsPerDollar};
use guerdon_domain::ports::{StoreError, StoreExt, Tx};
use guerdon_domain::redemptions::RefundError;
use guerdon_domain::redemptions::{RedeemError, create, refund};
use guerdon_domain::values::{RedemptionId, UserId};
use guerdon_domain::wallets::WalletType;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::error::refusals;
use super::idempotent::{Keyed, once};
use super::named::{UserName, company, company_of, id};
use super::output::Told;
use super::sum::{Sum, worth};
use super::{CommandError, Output, Runnable, View as _, Workplace};

/// Spends points of a user's earned wallet on a reward.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
pub(crate) struct Create {
    #[command(flatten)]
    #[serde(flatten)]
    user: UserName,
    #[command(flatten)]
    #[serde(flatten)]
    sum: Sum,
    #[command(flatten)]
    #[serde(flatten)]
    key: Keyed,
}

/// Returns what a redemption took, once.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
pub(crate) struct Refund {
    /// The redemption's id, as `redemption create` printed it
    #[arg(value_name = "REDEMPTION_ID", value_parser = id)]
    redemption_id: Uuid,
}

/// A redemption, or what was returned of it.
#[derive(Serialize)]
struct Redeemed {
    id: Uuid,
    user_id: Uuid,
    points: i64,
}

/// What a user's earned wallet shows.
fn shown(tx: &mut dyn Tx, user: UserId, rate: PointsPerDollar) -> Result<String, StoreError> {
    let held = tx.wallets(user)?.into_iter().find(|it| it.wallet_type == WalletType::User);
    Ok(worth(held.map_or(Points::ZERO, |it| it.points(rate)), rate))
}

impl Runnable for Create {
    fn run(&self, workplace: &Workplace) -> Result<Output, CommandError> {
        let user = self.user.id(workplace)?;
        let company = company_of(workplace, user)?;
        let what = ("redemption create", user.as_uuid(), &self.sum);
        once(workplace, &self.key, &what, |tx, context| {
            let (points, rate) = self.sum.at_rate_of(tx, company.id)?;
            let before = shown(tx, user, rate)?;
            let made = create(tx, user, points, context)?;
            let (id, now) = (made.id.as_uuid(), shown(tx, user, rate)?);
            let (spent, domain) = (worth(points, rate), company.domain.as_str());
            let text = format!(
                "redemption {id}: {spent} of user {user} of {domain}; the user_wallet held {before}, now {now}"
            );
            Ok(Told { fields: Redeemed { id, user_id: user.as_uuid(), points: points.get() }, text })
        })
    }
}

impl Runnable for Refund {
    fn run(&self, workplace: &Workplace) -> Result<Output, CommandError> {
        let id = RedemptionId::from_uuid(self.redemption_id);
        workplace.store.transaction(|tx| {
            let (redemption, points) = refund(tx, id, &workplace.context())?;
            let (user, company) = (redemption.user_id, company(tx, redemption.company_id)?);
            let (now, back) = (shown(tx, user, company.rate)?, worth(points, company.rate));
            let domain = company.domain.as_str();
            let text = format!(
                "redemption {id}: {back} returned to user {user} of {domain}; the user_wallet holds {now} now"
            );
            let fields = Redeemed { id: self.redemption_id, user_id: user.as_uuid(), points: points.get() };
            Told { fields, text }.output()
        })
    }
}

refusals!(RedeemError, RefundError);
