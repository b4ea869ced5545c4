//! A recognition (behaviour 15.1).

use guerdon_domain::money::Points;
use guerdon_domain::recognitions::Recognition;
use guerdon_domain::values::{CompanyId, Message, OccasionId, RecognitionId, Timestamp, UserId};
use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use crate::WireValue;
use crate::values::SenderType;

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Recognition")]
pub struct RecognitionView<'a> {
    /// The recognition's id. Example: `"019a9c3e-5d75-7177-be60-6d5e4f3a2b77"`
    id: WireValue<RecognitionId>,
    /// The receiver. Example: `"019a9c3e-5d72-7e44-9b7d-3a2b1c0d9e44"`
    receiver_id: WireValue<UserId>,
    /// Whether a user or the company sends it. Example: `"user"`
    #[schemars(with = "WireValue<SenderType>")]
    sender_type: &'static str,
    /// The id of the user or of the company. Example: `"019a9c3e-5d71-7a10-8a52-1f0e9d3c4b22"`
    sender_id: WireValue<Uuid>,
    /// The message; the occasion's default message if none is sent. Example: `"You made my day."`
    #[schemars(with = "WireValue<Message>")]
    message: &'a str,
    /// The points that the receiver got. Example: `10`
    #[schemars(with = "WireValue<Points>")]
    points: i64,
    /// True for a public recognition, false for a private one; true by default. Example: `true`
    share: bool,
    /// The occasion: one of the sender's company, or a global one.
    /// Example: `"019a9c3e-5d73-7f55-8c6e-4b3c2d1e0f55"`
    occasion_id: WireValue<OccasionId>,
    /// The company. Example: `"019a9c3e-5d70-7c41-9d0c-6a1c0f7e2b11"`
    company_id: WireValue<CompanyId>,
    /// When it was created, in UTC with milliseconds. Example: `"2026-11-20T20:01:02.345Z"`
    created_at: WireValue<Timestamp>,
}

impl<'a> RecognitionView<'a> {
    pub fn from_recognition(recognition: &'a Recognition) -> Self {
        Self {
            id: WireValue(recognition.id),
            receiver_id: WireValue(recognition.receiver_id),
            sender_type: recognition.sender.type_name(),
            sender_id: WireValue(recognition.sender.id()),
            message: recognition.message.as_str(),
            points: recognition.points.get(),
            share: recognition.share,
            occasion_id: WireValue(recognition.occasion_id),
            company_id: WireValue(recognition.company_id),
            created_at: WireValue(recognition.created_at),
        }
    }
}
