//! Recognitions.

use std::borrow::Cow;

use diesel::prelude::*;
use guerdon_domain::money::Points;
use guerdon_domain::ports::StoreError;
use guerdon_domain::recognitions::{Recognition, Sender};
use guerdon_domain::values::{CompanyId, Message, OccasionId, RecognitionId, UserId};

use super::Reading;
use crate::schema::recognitions;
use crate::types::{At, Id};

/// The kind of a sender that is a user.
const USER: i16 = 1;
/// The kind of a sender that is a company.
const COMPANY: i16 = 2;

fn sender_kind(sender: Sender) -> i16 {
    match sender {
        Sender::User(_) => USER,
        Sender::Company(_) => COMPANY,
    }
}

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = recognitions, treat_none_as_default_value = false)]
pub(crate) struct RecognitionRow<'a> {
    id: Id,
    company_id: Id,
    occasion_id: Id,
    sender_kind: i16,
    sender_id: Id,
    receiver_id: Id,
    message: Cow<'a, str>,
    points: i64,
    share: bool,
    created_at: At,
}

impl<'a> RecognitionRow<'a> {
    /// Bound values a row.
    pub(crate) const COLUMNS: usize = 10;

    pub(crate) fn of(it: &'a Recognition) -> Self {
        Self {
            id: Id(it.id.as_uuid()),
            company_id: Id(it.company_id.as_uuid()),
            occasion_id: Id(it.occasion_id.as_uuid()),
            sender_kind: sender_kind(it.sender),
            sender_id: Id(it.sender.id()),
            receiver_id: Id(it.receiver_id.as_uuid()),
            message: Cow::Borrowed(it.message.as_str()),
            points: it.points.get(),
            share: it.share,
            created_at: At(it.created_at),
        }
    }

    pub(crate) fn read(self) -> Result<Recognition, StoreError> {
        let reading = Reading { table: "recognitions", id: self.id.0 };
        let sender = match self.sender_kind {
            USER => Sender::User(UserId::from_uuid(self.sender_id.0)),
            COMPANY => Sender::Company(CompanyId::from_uuid(self.sender_id.0)),
            _ => return Err(reading.corrupt("sender_kind")),
        };
        Ok(Recognition {
            id: RecognitionId::from_uuid(self.id.0),
            receiver_id: UserId::from_uuid(self.receiver_id.0),
            sender,
            message: reading.parse("message", &self.message, Message::parse)?,
            points: reading.make("points", Points::new(self.points))?,
            share: self.share,
            occasion_id: OccasionId::from_uuid(self.occasion_id.0),
            company_id: CompanyId::from_uuid(self.company_id.0),
            created_at: self.created_at.0,
        })
    }
}
