//! `guerdon redemption`.

use guerdon_domain::money::Points;
use guerdon_domain::ports::StoreExt;
use guerdon_domain::redemptions::RefundError;
use guerdon_domain::redemptions::{RedeemError, create, refund};
use guerdon_domain::values::{RedemptionId, UserId};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::error::refusals;
use super::idempotent::{Keyed, once};
use super::{CommandError, Output, Runnable, View, Workplace};

/// Spends points of a user's earned wallet on a reward.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
pub(crate) struct Create {
    /// The user.
    user_id: Uuid,
    /// How many.
    #[arg(long)]
    points: i64,
    #[command(flatten)]
    #[serde(flatten)]
    key: Keyed,
}

/// Returns what a redemption took, once.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
pub(crate) struct Refund {
    /// The redemption.
    redemption_id: Uuid,
}

/// A redemption, or what was returned of it.
#[derive(Serialize, Deserialize)]
struct Redeemed {
    id: Uuid,
    user_id: Uuid,
    points: i64,
}

impl View for Redeemed {
    fn text(&self) -> String {
        format!("redemption {}: {} points of user {}", self.id, self.points, self.user_id)
    }
}

impl Runnable for Create {
    fn run(&self, workplace: &Workplace) -> Result<Output, CommandError> {
        let points = Points::new(self.points).ok_or(RedeemError::OutOfRange)?;
        let what = ("redemption create", self.user_id, self.points);
        once(workplace, &self.key, &what, |tx, context| {
            let made = create(tx, UserId::from_uuid(self.user_id), points, context)?;
            let (id, user_id) = (made.id.as_uuid(), made.user_id.as_uuid());
            Ok(Redeemed { id, user_id, points: made.points.get() })
        })
    }
}

impl Runnable for Refund {
    fn run(&self, workplace: &Workplace) -> Result<Output, CommandError> {
        let id = RedemptionId::from_uuid(self.redemption_id);
        let (redemption, points) = workplace
            .store
            .transaction(|tx| -> Result<_, CommandError> { Ok(refund(tx, id, &workplace.context())?) })?;
        let (id, user_id) = (self.redemption_id, redemption.user_id.as_uuid());
        Redeemed { id, user_id, points: points.get() }.output()
    }
}

refusals!(RedeemError, RefundError);
