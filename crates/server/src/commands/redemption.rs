//! `guerdon redemption`.

use guerdon_domain::commands::{Command, Done};
use guerdon_domain::ports::StoreExt;
use guerdon_domain::redemptions::{self, Redeem, RefundError};
use guerdon_domain::values::RedemptionId;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::error::refusals;
use super::idempotent::{Keyed, carry_out, unexpected};
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

impl Runnable for Create {
    fn run(&self, workplace: &Workplace) -> Result<Output, CommandError> {
        let user = self.user.id(workplace)?;
        let company = company_of(workplace, user)?;
        let what = ("redemption create", user.as_uuid(), &self.sum);
        let command = Command::Redeem(Redeem { user_id: user, sum: self.sum.read()? });
        carry_out(workplace, (company.provider_id, command), &self.key, &what, move |done| {
            let Done::Redeemed(redemption, wallet) = done else { return Err(unexpected(&done)) };
            let [spent, before, now] =
                [wallet.points, wallet.before, wallet.after].map(|it| worth(it, wallet.rate));
            let (id, domain) = (redemption.id.as_uuid(), &company.domain);
            let text = format!(
                "redemption {id}: {spent} of user {user} of {domain}; the user_wallet held {before}, now {now}"
            );
            let fields = Redeemed { id, user_id: user.as_uuid(), points: wallet.points.get() };
            Told { fields, text }.output()
        })
    }
}

impl Runnable for Refund {
    fn run(&self, workplace: &Workplace) -> Result<Output, CommandError> {
        let id = RedemptionId::from_uuid(self.redemption_id);
        let company = workplace.store.snapshot(|reads| -> Result<_, CommandError> {
            let found = reads.redemption(id)?.ok_or(RefundError::NoSuchRedemption)?;
            company(reads, found.company_id)
        })?;
        let command = Command::Refund(redemptions::Refund(id));
        carry_out(workplace, (company.provider_id, command), &Keyed::default(), &id.as_uuid(), move |done| {
            let Done::Refunded(redemption, wallet) = done else { return Err(unexpected(&done)) };
            let (user, domain) = (redemption.user_id, &company.domain);
            let (now, back) = (worth(wallet.after, wallet.rate), worth(wallet.points, wallet.rate));
            let text = format!(
                "redemption {id}: {back} returned to user {user} of {domain}; the user_wallet holds {now} now"
            );
            let fields = Redeemed { id: id.as_uuid(), user_id: user.as_uuid(), points: wallet.points.get() };
            Told { fields, text }.output()
        })
    }
}

refusals!(RefundError);
