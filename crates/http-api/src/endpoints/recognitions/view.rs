//! A recognition (behaviour 15.1).

use guerdon_domain::money::Points;
use guerdon_domain::recognitions::Recognition;
use guerdon_domain::values::{CompanyId, Message, OccasionId, RecognitionId, Timestamp, UserId};
use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use super::sender_type::SenderType;
use crate::operation::wire::Shown;

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Recognition")]
pub(crate) struct RecognitionView<'a> {
    id: Shown<RecognitionId>,
    receiver_id: Shown<UserId>,
    #[schemars(with = "Shown<SenderType>")]
    sender_type: &'static str,
    sender_id: Shown<Uuid>,
    #[schemars(with = "Shown<Message>")]
    message: &'a str,
    #[schemars(with = "Shown<Points>")]
    points: i64,
    share: bool,
    occasion_id: Shown<OccasionId>,
    company_id: Shown<CompanyId>,
    created_at: Shown<Timestamp>,
}

impl<'a> RecognitionView<'a> {
    pub(crate) fn of(recognition: &'a Recognition) -> Self {
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
