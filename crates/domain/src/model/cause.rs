//! The cause.

use super::{By, Sender};
use crate::money::{Points, PointsPerDollar};
use crate::values::{
    CauseId, CompanyId, IsoDate, Message, OccasionId, ProviderId, RecognitionId, RedemptionId, ScheduleId,
    Timestamp, UserId,
};
use crate::wallets::WalletType;

/// One thing that was asked for. A fact: never changed, never removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cause {
    /// Its id; of a redemption the redemption's.
    pub id: CauseId,
    pub company_id: CompanyId,
    /// Whose the company was.
    pub provider_id: ProviderId,
    /// What was asked for.
    pub act: Act,
    /// Who asked.
    pub by: By,
    /// The rate by which points were turned into money; of a founding or a change of rate the one from then on.
    pub rate: PointsPerDollar,
    pub created_at: Timestamp,
}

/// What was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Act {
    /// The company was made.
    Founding,
    /// Its rate changed.
    Rate,
    /// It went over to another provider.
    Move { to: ProviderId },
    /// Recognitions were sent.
    Sending(Sending),
    /// A recognition was changed; what is `None` stayed.
    Amendment {
        recognition: RecognitionId,
        /// What it says since.
        message: Option<Message>,
        /// Whether it is public since.
        share: Option<bool>,
    },
    /// Points came into the reserve from outside.
    Deposit { points: Points },
    /// Points went out of the reserve, to where deposits come from.
    Withdrawal { points: Points },
    /// Points went from the reserve to many wallets.
    Distribution {
        wallet: WalletType,
        /// Points for each.
        points: Points,
        receivers: u32,
        /// For which date of which schedule; none where the operator ran it.
        date: Option<ScheduledDate>,
    },
    /// A user spent points on a reward.
    Redemption { user: UserId, points: Points },
    /// What a redemption took was returned.
    Refund {
        /// Of which redemption; once.
        redemption: RedemptionId,
        /// How many points that was at the rate of the day.
        points: Points,
    },
    /// What a wallet held was replaced.
    Override {
        user: UserId,
        wallet: WalletType,
        /// By how many points.
        points: Points,
    },
    /// A user was deleted; what the wallets held went back to the reserve.
    Deletion {
        /// Who; once.
        user: UserId,
        /// How many wallets held anything.
        wallets: u32,
    },
}

/// What the recognitions of one request have in common.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sending {
    /// Who sent.
    pub sender: Sender,
    pub occasion_id: OccasionId,
    /// Points for each receiver.
    pub points: Points,
    pub receivers: u32,
    /// What they say.
    pub message: Message,
    /// Whether they are public.
    pub share: bool,
}

/// A date of a schedule; each is paid once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScheduledDate {
    pub schedule: ScheduleId,
    pub due_on: IsoDate,
}

impl Act {
    /// How many transfers it has, a rounding not counted; of a sending how many recognitions, which move nothing where
    /// they are of no points.
    pub fn legs(&self) -> u32 {
        match self {
            Self::Founding | Self::Rate | Self::Move { .. } | Self::Amendment { .. } => 0,
            Self::Deposit { .. } | Self::Withdrawal { .. } => 1,
            Self::Redemption { .. } | Self::Refund { .. } | Self::Override { .. } => 1,
            Self::Sending(it) => it.receivers,
            Self::Distribution { receivers, .. } => *receivers,
            Self::Deletion { wallets, .. } => *wallets,
        }
    }
}
