//! Recognitions.

use diesel::prelude::*;
use guerdon_domain::ports::{ReadRecognitions, Recognitions, Role, StoreError};
use guerdon_domain::recognitions::Recognition;
use guerdon_domain::values::{Page, RecognitionId, UserId};

use super::super::BINDS;
use super::Unit;
use crate::rows::RecognitionRow;
use crate::schema::recognitions;
use crate::types::Id;

// No company has the id of a user: what a user sent is found by the id alone.
impl ReadRecognitions for Unit<'_> {
    fn recognitions(&mut self, user: UserId, role: Role, page: Page) -> Result<Vec<Recognition>, StoreError> {
        let user = Id(user.as_uuid());
        let newest = (recognitions::created_at.desc(), recognitions::id.desc());
        let (limit, offset) = (page.limit(), page.offset());
        let found: Vec<RecognitionRow<'static>> = self.query(|conn| match role {
            Role::Receiver => recognitions::table
                .filter(recognitions::receiver_id.eq(user))
                .order(newest)
                .limit(limit)
                .offset(offset)
                .select(RecognitionRow::as_select())
                .get_results(conn),
            Role::Sender => recognitions::table
                .filter(recognitions::sender_id.eq(user))
                .order(newest)
                .limit(limit)
                .offset(offset)
                .select(RecognitionRow::as_select())
                .get_results(conn),
        })?;
        self.keep(found.into_iter().map(RecognitionRow::read).collect())
    }

    fn recognition(&mut self, id: RecognitionId) -> Result<Option<Recognition>, StoreError> {
        let found: Option<RecognitionRow<'static>> = self.query(|conn| {
            recognitions::table
                .find(Id(id.as_uuid()))
                .select(RecognitionRow::as_select())
                .get_result(conn)
                .optional()
        })?;
        self.keep(found.map(RecognitionRow::read).transpose())
    }

    fn recognition_count(&mut self, user: UserId, role: Role) -> Result<i64, StoreError> {
        let user = Id(user.as_uuid());
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
    fn insert_recognitions(&mut self, recognitions: &[Recognition]) -> Result<(), StoreError> {
        for slice in recognitions.chunks(BINDS / RecognitionRow::COLUMNS) {
            let rows: Vec<RecognitionRow<'_>> = slice.iter().map(RecognitionRow::of).collect();
            self.query(|conn| match rows.as_slice() {
                [one] => diesel::insert_into(recognitions::table).values(one).execute(conn),
                many => diesel::insert_into(recognitions::table).values(many).execute(conn),
            })?;
        }
        Ok(())
    }

    fn update_recognition(&mut self, recognition: &Recognition) -> Result<(), StoreError> {
        self.query(|conn| {
            diesel::update(recognitions::table.find(Id(recognition.id.as_uuid())))
                .set((
                    recognitions::message.eq(recognition.message.as_str()),
                    recognitions::share.eq(recognition.share),
                ))
                .execute(conn)
        })?;
        Ok(())
    }
}
