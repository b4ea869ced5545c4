//! Recognitions.

use diesel::prelude::*;
use guerdon_domain::ports::{ReadRecognitions, Recognitions, Role, StoreError};
use guerdon_domain::recognitions::Recognition;
use guerdon_domain::values::{Message, Page, RecognitionId, UserId};

use super::Unit;
use crate::rows::schema::{journal_entries, recognitions};
use crate::rows::types::Id;
use crate::rows::{RecognitionRow, SendingRow};

type Found = (RecognitionRow, SendingRow);

// No company has the id of a user, so the id alone finds what a user sent.
impl ReadRecognitions for Unit<'_> {
    fn recognitions(&mut self, user: UserId, role: Role, page: Page) -> Result<Vec<Recognition>, StoreError> {
        let user = Id(user);
        let newest = (recognitions::created_at.desc(), recognitions::id.desc());
        let (limit, offset) = (page.limit(), page.offset());
        let all = recognitions::table
            .inner_join(journal_entries::table)
            .order(newest)
            .limit(limit)
            .offset(offset)
            .select((RecognitionRow::as_select(), SendingRow::as_select()));
        let found: Vec<Found> = self.query(|conn| match role {
            Role::Receiver => all.filter(recognitions::receiver_id.eq(user)).get_results(conn),
            Role::Sender => all.filter(recognitions::sender_id.eq(user)).get_results(conn),
        })?;
        self.keep(found.into_iter().map(|(row, sending)| row.read(sending)).collect())
    }

    fn recognition(&mut self, id: RecognitionId) -> Result<Option<Recognition>, StoreError> {
        let found: Option<Found> = self.query(|conn| {
            recognitions::table
                .inner_join(journal_entries::table)
                .filter(recognitions::id.eq(Id(id)))
                .select((RecognitionRow::as_select(), SendingRow::as_select()))
                .get_result(conn)
                .optional()
        })?;
        self.keep(found.map(|(row, sending)| row.read(sending)).transpose())
    }

    fn recognition_count(&mut self, user: UserId, role: Role) -> Result<i64, StoreError> {
        let user = Id(user);
        self.query(|conn| match role {
            Role::Receiver => {
                recognitions::table.filter(recognitions::receiver_id.eq(user)).count().get_result(conn)
            }
            Role::Sender => {
                recognitions::table.filter(recognitions::sender_id.eq(user)).count().get_result(conn)
            }
        })
    }
}

impl Recognitions for Unit<'_> {
    fn amend_recognition(
        &mut self,
        id: RecognitionId,
        message: Option<&Message>,
        share: Option<bool>,
    ) -> Result<(), StoreError> {
        let amended = || recognitions::table.filter(recognitions::id.eq(Id(id)));
        if let Some(message) = message {
            let message = recognitions::message.eq(Some(message.as_str()));
            self.query(|conn| diesel::update(amended()).set(message).execute(conn))?;
        }
        if let Some(share) = share {
            let share = recognitions::share.eq(share);
            self.query(|conn| diesel::update(amended()).set(share).execute(conn))?;
        }
        Ok(())
    }
}
