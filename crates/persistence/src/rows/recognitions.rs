//! Recognitions.

use diesel::prelude::*;
use guerdon_domain::money::Points;
use guerdon_domain::ports::StoreError;
use guerdon_domain::recognitions::Recognition;
use guerdon_domain::values::{CompanyId, JournalEntryId, Message, OccasionId, RecognitionId, UserId};

use super::Reading;
use super::columns::row;
use super::journal_entries::sender_of;
use super::schema::{journal_entries, recognitions};
use super::types::{At, Id};

row! {
    #[derive(Insertable)]
    struct NewRecognitionRow in recognitions {
        journal_entry_id: Id<JournalEntryId>,
        leg: i32,
        id: Id<RecognitionId>,
        company_id: Id<CompanyId>,
        sender_id: Id,
        receiver_id: Id<UserId>,
        share: bool,
        created_at: At,
    }
}

impl NewRecognitionRow {
    pub(crate) fn of(cause: JournalEntryId, leg: i32, it: &Recognition) -> Self {
        Self {
            journal_entry_id: Id(cause),
            leg,
            id: Id(it.id),
            company_id: Id(it.company_id),
            sender_id: Id(it.sender.id()),
            receiver_id: Id(it.receiver_id),
            share: it.share,
            created_at: At(it.created_at),
        }
    }
}

/// A recognition without the fields that it shares with its sending.
#[derive(Queryable, Selectable)]
#[diesel(table_name = recognitions)]
pub(crate) struct RecognitionRow {
    id: Id<RecognitionId>,
    company_id: Id<CompanyId>,
    sender_id: Id,
    receiver_id: Id<UserId>,
    share: bool,
    message: Option<String>,
    created_at: At,
}

/// What the recognitions of one sending have in common.
#[derive(Queryable, Selectable)]
#[diesel(table_name = journal_entries)]
pub(crate) struct SendingRow {
    points: i64,
    occasion_id: Option<Id<OccasionId>>,
    message: Option<String>,
}

impl RecognitionRow {
    pub(crate) fn read(self, sending: SendingRow) -> Result<Recognition, StoreError> {
        let reading = Reading { table: "recognitions", id: &self.id.0 };
        let message = reading.make("message", self.message.or(sending.message))?;
        Ok(Recognition {
            id: self.id.0,
            receiver_id: self.receiver_id.0,
            sender: sender_of(self.sender_id, self.company_id),
            message: reading.parse("message", &message, Message::parse)?,
            points: reading.make("points", Points::new(sending.points))?,
            share: self.share,
            occasion_id: reading.make("occasion_id", sending.occasion_id)?.0,
            company_id: self.company_id.0,
            created_at: self.created_at.0,
        })
    }
}
