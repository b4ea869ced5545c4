//! Recognitions.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::WalletType;

/// The sender of a new recognition (behaviour 15.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sender {
    User(Uuid),
    Company(Uuid),
}

/// Whether a user or a company sent a recognition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SenderType {
    User,
    Company,
    /// A type that this version does not know.
    #[serde(other)]
    Unknown,
}

/// A recognition to send.
#[derive(Debug, Clone, Serialize)]
pub struct NewRecognition {
    occasion_id: Uuid,
    sender_type: SenderType,
    sender_id: Uuid,
    receiver_ids: String,
    points_per_receiver: i64,
    message: Option<String>,
    share: bool,
}

impl NewRecognition {
    /// Creates a public recognition with the occasion's default message.
    pub fn new(occasion_id: Uuid, sender: Sender, receivers: &[Uuid], points_per_receiver: i64) -> Self {
        let (sender_type, sender_id) = match sender {
            Sender::User(id) => (SenderType::User, id),
            Sender::Company(id) => (SenderType::Company, id),
        };
        let receivers: Vec<String> = receivers.iter().map(Uuid::to_string).collect();
        let (receiver_ids, message, share) = (receivers.join(","), None, true);
        Self { occasion_id, sender_type, sender_id, receiver_ids, points_per_receiver, message, share }
    }

    /// Sets the message.
    #[must_use]
    pub fn with_message(self, message: impl Into<String>) -> Self {
        Self { message: Some(message.into()), ..self }
    }

    /// Sets whether the recognition is public (the default). Only the sender and the receivers see a private one.
    #[must_use]
    pub fn with_share(self, share: bool) -> Self {
        Self { share, ..self }
    }
}

/// A recognition that one user received (behaviour 15.1).
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Recognition {
    pub id: Uuid,
    pub receiver_id: Uuid,
    pub sender_type: SenderType,
    pub sender_id: Uuid,
    pub message: String,
    pub points: i64,
    /// Whether the recognition is public.
    pub share: bool,
    pub occasion_id: Uuid,
    pub company_id: Uuid,
    pub created_at: String,
}

/// The recognitions that were sent.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Recognitions {
    /// One recognition for each receiver, in the order of the receivers.
    pub recognitions: Vec<Recognition>,
}

/// What sending a recognition would do (behaviour 25.3).
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct DryRun {
    /// The account that would pay: the reserve, or a wallet of the sender.
    pub wallet: WalletType,
    /// The total cost in points.
    pub points: i64,
    /// The total cost in dollars with two decimals.
    pub dollars: String,
    /// The number of receivers.
    pub receivers: i64,
    /// The payer's balance in points afterwards.
    pub balance_after: i64,
}
