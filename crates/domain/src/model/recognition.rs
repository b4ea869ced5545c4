//! The recognition.

use uuid::Uuid;

use crate::money::Points;
use crate::values::{CompanyId, Message, OccasionId, RecognitionId, Timestamp, UserId};

/// Who sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sender {
    /// A user, from a wallet.
    User(UserId),
    /// A company, from its reserve.
    Company(CompanyId),
}

impl Sender {
    /// The name of the kind at the API.
    pub fn type_name(self) -> &'static str {
        match self {
            Self::User(_) => "user",
            Self::Company(_) => "company",
        }
    }

    /// The id, of the kind named.
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
    /// Its id.
    pub id: RecognitionId,
    /// Who received it.
    pub receiver_id: UserId,
    /// Who sent it.
    pub sender: Sender,
    /// What it says.
    pub message: Message,
    /// The points sent: a fact, whatever the rate becomes.
    pub points: Points,
    /// Whether it is public.
    pub share: bool,
    /// For which occasion.
    pub occasion_id: OccasionId,
    /// In which company.
    pub company_id: CompanyId,
    /// When.
    pub created_at: Timestamp,
}
