//! Recognitions.

use uuid::Uuid;

use crate::money::Points;
use crate::values::{CompanyId, Message, OccasionId, RecognitionId, Timestamp, UserId};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sender {
    /// A user, who pays from a wallet.
    User(UserId),
    /// A company, which pays from its reserve.
    Company(CompanyId),
}

impl Sender {
    /// The name of the kind in the API.
    pub fn type_name(self) -> &'static str {
        match self {
            Self::User(_) => "user",
            Self::Company(_) => "company",
        }
    }

    /// The id of the user or company.
    pub fn id(self) -> Uuid {
        match self {
            Self::User(id) => id.as_uuid(),
            Self::Company(id) => id.as_uuid(),
        }
    }
}

/// A recognition that was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recognition {
    pub id: RecognitionId,
    pub receiver_id: UserId,
    pub sender: Sender,
    pub message: Message,
    /// The sent points, which do not change with the rate.
    pub points: Points,
    /// Whether it is public.
    pub share: bool,
    pub occasion_id: OccasionId,
    pub company_id: CompanyId,
    pub created_at: Timestamp,
}
