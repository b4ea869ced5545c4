//! Journal entries.

use super::{Requester, Sender};
use crate::money::{Points, PointsPerDollar};
use crate::values::{
    CompanyId, IsoDate, JournalEntryId, Message, OccasionId, ProviderId, RecognitionId, RedemptionId,
    ScheduleId, Timestamp, UserId,
};
use crate::wallets::WalletType;

/// A journal entry: the record of one requested operation. It is never changed or deleted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalEntry {
    /// Its id. The journal entry of a redemption has the same id as the redemption.
    pub id: JournalEntryId,
    pub company_id: CompanyId,
    /// The provider that owned the company at that time.
    pub provider_id: ProviderId,
    /// The requested operation.
    pub kind: EntryKind,
    /// Who requested it.
    pub requester: Requester,
    /// The rate that converted between points and dollars. For a company creation or a rate change, the new
    /// rate.
    pub rate: PointsPerDollar,
    pub created_at: Timestamp,
}

/// The requested operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EntryKind {
    /// The company was created.
    CompanyCreation,
    /// The rate of the company changed.
    RateChange,
    /// The company was transferred to another provider.
    CompanyTransfer { to: ProviderId },
    /// Recognitions were sent.
    Recognition(SentRecognition),
    /// A recognition was changed. Fields that are `None` did not change.
    Amendment {
        recognition: RecognitionId,
        /// The new message.
        message: Option<Message>,
        /// Whether it is now public.
        share: Option<bool>,
    },
    /// Points were added to the reserve from outside.
    Deposit { points: Points },
    /// Points were withdrawn from the reserve.
    Withdrawal { points: Points },
    /// Points were distributed from the reserve to many wallets.
    Distribution {
        wallet: WalletType,
        /// Points for each receiver.
        points: Points,
        receivers: u32,
        /// The date of a schedule; `None` if the operator ran the distribution.
        date: Option<ScheduledDate>,
    },
    /// A user spent points on a reward.
    Redemption { user: UserId, points: Points },
    /// The amount of a redemption was returned.
    Refund {
        /// The redemption, which can be refunded only once.
        redemption: RedemptionId,
        /// The points that the amount was worth at the rate of the refund.
        points: Points,
    },
    /// The balance of a wallet was overridden.
    Override {
        user: UserId,
        wallet: WalletType,
        /// The points that the wallet shows afterwards.
        points: Points,
    },
    /// A user was deleted, and the wallets were emptied into the reserve.
    UserDeletion {
        /// The user, who can be deleted only once.
        user: UserId,
        /// The number of wallets with a balance.
        wallets: u32,
    },
}

/// A recognition to one or more receivers: the fields that the recognitions of one request share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SentRecognition {
    /// The sender.
    pub sender: Sender,
    pub occasion_id: OccasionId,
    /// Points for each receiver.
    pub points: Points,
    pub receivers: u32,
    /// The message of the recognitions.
    pub message: Message,
    /// Whether the recognitions are public.
    pub share: bool,
}

/// A date of a schedule. The distribution of each date runs once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScheduledDate {
    pub schedule: ScheduleId,
    pub due_on: IsoDate,
}

impl EntryKind {
    /// The number of the entry's transfers, not counting a rounding. A sent recognition counts one leg per
    /// receiver, even if the recognitions are of zero points and move nothing.
    pub fn leg_count(&self) -> u32 {
        match self {
            Self::CompanyCreation
            | Self::RateChange
            | Self::CompanyTransfer { .. }
            | Self::Amendment { .. } => 0,
            Self::Deposit { .. }
            | Self::Withdrawal { .. }
            | Self::Redemption { .. }
            | Self::Refund { .. }
            | Self::Override { .. } => 1,
            Self::Recognition(sent) => sent.receivers,
            Self::Distribution { receivers, .. } => *receivers,
            Self::UserDeletion { wallets, .. } => *wallets,
        }
    }
}
