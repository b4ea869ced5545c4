//! Recognitions.

use diesel::prelude::*;
use guerdon_domain::money::Points;
use guerdon_domain::ports::StoreError;
use guerdon_domain::recognitions::Recognition;
use guerdon_domain::values::{CompanyId, JournalEntryId, Message, OccasionId, RecognitionId, UserId};

use super::journal_entries::sender_of;
use super::schema::{journal_entries, recognitions};
use super::{DbTimestamp, Id, RowReader, declare_row};

declare_row! {
    #[derive(Insertable)]
    struct NewRecognitionRow in recognitions {
        journal_entry_id: Id<JournalEntryId>,
        leg: i32,
        id: Id<RecognitionId>,
        company_id: Id<CompanyId>,
        sender_id: Id,
        receiver_id: Id<UserId>,
        share: bool,
        created_at: DbTimestamp,
    }
}

impl NewRecognitionRow {
    pub(crate) fn from_recognition(entry_id: JournalEntryId, leg: i32, recognition: &Recognition) -> Self {
        Self {
            journal_entry_id: Id(entry_id),
            leg,
            id: Id(recognition.id),
            company_id: Id(recognition.company_id),
            sender_id: Id(recognition.sender.id()),
            receiver_id: Id(recognition.receiver_id),
            share: recognition.share,
            created_at: DbTimestamp(recognition.created_at),
        }
    }
}

/// A recognition without the points, occasion and message of its journal entry.
#[derive(Queryable, Selectable)]
#[diesel(table_name = recognitions)]
pub(crate) struct RecognitionRow {
    pub(crate) journal_entry_id: Id<JournalEntryId>,
    pub(crate) leg: i32,
    pub(crate) id: Id<RecognitionId>,
    pub(super) company_id: Id<CompanyId>,
    pub(crate) sender_id: Id,
    pub(crate) receiver_id: Id<UserId>,
    pub(super) share: bool,
    pub(super) message: Option<String>,
    pub(super) created_at: DbTimestamp,
}

/// The fields that the recognitions of one journal entry share.
#[derive(Queryable, Selectable)]
#[diesel(table_name = journal_entries)]
pub(crate) struct SentRecognitionRow {
    points: i64,
    occasion_id: Option<Id<OccasionId>>,
    message: Option<String>,
}

impl RecognitionRow {
    pub(crate) fn into_recognition(self, sent: SentRecognitionRow) -> Result<Recognition, StoreError> {
        let reader = RowReader { table: "recognitions", id: &self.id.0 };
        let message = reader.require_valid("message", self.message.or(sent.message))?;
        Ok(Recognition {
            id: self.id.0,
            receiver_id: self.receiver_id.0,
            sender: sender_of(self.sender_id, self.company_id),
            message: reader.parse_column("message", &message, Message::parse)?,
            points: reader.require_valid("points", Points::new(sent.points))?,
            share: self.share,
            occasion_id: reader.require_valid("occasion_id", sent.occasion_id)?.0,
            company_id: self.company_id.0,
            created_at: self.created_at.0,
        })
    }
}
