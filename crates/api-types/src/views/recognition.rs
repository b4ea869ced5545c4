//! A recognition (behaviour 15.1).

use guerdon_domain::money::Points;
use guerdon_domain::recognitions::Recognition;
use guerdon_domain::values::{CompanyId, Message, OccasionId, RecognitionId, Timestamp, UserId};
use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use crate::Shown;
use crate::form::SenderType;

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Recognition")]
pub struct RecognitionView<'a> {
    /// The recognition's id. Example: `"019a9c3e-5d75-7177-be60-6d5e4f3a2b77"`
    id: Shown<RecognitionId>,
    /// The user who received it. Example: `"019a9c3e-5d72-7e44-9b7d-3a2b1c0d9e44"`
    receiver_id: Shown<UserId>,
    /// Who sends: a user, or the company itself. Example: `"user"`
    #[schemars(with = "Shown<SenderType>")]
    sender_type: &'static str,
    /// The id of the user or of the company. Example: `"019a9c3e-5d71-7a10-8a52-1f0e9d3c4b22"`
    sender_id: Shown<Uuid>,
    /// What is said; the occasion's default where none is sent. Example: `"You made my day."`
    #[schemars(with = "Shown<Message>")]
    message: &'a str,
    /// How many points were sent. Example: `10`
    #[schemars(with = "Shown<Points>")]
    points: i64,
    /// True is public, false is private; true unless given. Example: `true`
    share: bool,
    /// What it is sent for: an occasion of the sender's company, or a global one.
    /// Example: `"019a9c3e-5d73-7f55-8c6e-4b3c2d1e0f55"`
    occasion_id: Shown<OccasionId>,
    /// The company that it belongs to. Example: `"019a9c3e-5d70-7c41-9d0c-6a1c0f7e2b11"`
    company_id: Shown<CompanyId>,
    /// When it was made, in UTC with milliseconds. Example: `"2026-11-20T20:01:02.345Z"`
    created_at: Shown<Timestamp>,
}

impl<'a> RecognitionView<'a> {
    pub fn of(recognition: &'a Recognition) -> Self {
        Self {
            id: Shown(recognition.id),
            receiver_id: Shown(recognition.receiver_id),
            sender_type: recognition.sender.type_name(),
            sender_id: Shown(recognition.sender.id()),
            message: recognition.message.as_str(),
            points: recognition.points.get(),
            share: recognition.share,
            occasion_id: Shown(recognition.occasion_id),
            company_id: Shown(recognition.company_id),
            created_at: Shown(recognition.created_at),
        }
    }
}
