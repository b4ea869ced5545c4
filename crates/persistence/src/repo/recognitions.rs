//! Recognitions.

use diesel::prelude::*;
use guerdon_domain::ports::{Lookup, ReadRecognitions, Recognitions, Role, StoreError};
use guerdon_domain::recognitions::Recognition;
use guerdon_domain::values::{Message, Page, ProviderId, RecognitionId, UserId};

use super::Unit;
use crate::rows::schema::{companies, journal_entries, recognitions};
use crate::rows::types::Id;
use crate::rows::{RecognitionRow, SentRecognitionRow};

type RecognitionColumns = (RecognitionRow, SentRecognitionRow);

// No company has the id of a user, so the id alone identifies the recognitions that a user sent.
impl ReadRecognitions for Unit<'_> {
    fn list_recognitions(
        &mut self,
        user: UserId,
        role: Role,
        page: Page,
    ) -> Result<Vec<Recognition>, StoreError> {
        let user = Id(user);
        let newest = (recognitions::created_at.desc(), recognitions::id.desc());
        let (limit, offset) = (page.limit(), page.offset());
        let all = recognitions::table
            .inner_join(journal_entries::table)
            .order(newest)
            .limit(limit)
            .offset(offset)
            .select((RecognitionRow::as_select(), SentRecognitionRow::as_select()));
        let found: Vec<RecognitionColumns> = self.query(|conn| match role {
            Role::Receiver => all.filter(recognitions::receiver_id.eq(user)).get_results(conn),
            Role::Sender => all.filter(recognitions::sender_id.eq(user)).get_results(conn),
        })?;
        self.record_failure(found.into_iter().map(|(row, sent)| row.into_recognition(sent)).collect())
    }

    fn find_recognition(
        &mut self,
        scope: ProviderId,
        id: RecognitionId,
    ) -> Result<Lookup<Recognition>, StoreError> {
        let found: Option<(Id<ProviderId>, RecognitionColumns)> = self.query(|conn| {
            recognitions::table
                .inner_join(journal_entries::table)
                .inner_join(companies::table.on(recognitions::company_id.eq(companies::id)))
                .filter(recognitions::id.eq(Id(id)))
                .select((
                    companies::provider_id,
                    (RecognitionRow::as_select(), SentRecognitionRow::as_select()),
                ))
                .get_result(conn)
                .optional()
        })?;
        let found = Lookup::in_scope(scope, found.map(|(owner, columns)| (owner.0, columns)));
        self.record_failure(found.try_map(|(row, sent)| row.into_recognition(sent)))
    }

    fn find_recognition_any_provider(
        &mut self,
        id: RecognitionId,
    ) -> Result<Option<Recognition>, StoreError> {
        let found: Option<RecognitionColumns> = self.query(|conn| {
            recognitions::table
                .inner_join(journal_entries::table)
                .filter(recognitions::id.eq(Id(id)))
                .select((RecognitionRow::as_select(), SentRecognitionRow::as_select()))
                .get_result(conn)
                .optional()
        })?;
        self.record_failure(found.map(|(row, sent)| row.into_recognition(sent)).transpose())
    }

    fn count_recognitions(&mut self, user: UserId, role: Role) -> Result<i64, StoreError> {
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
        let changes = (
            message.map(|message| recognitions::message.eq(Some(message.as_str()))),
            share.map(|share| recognitions::share.eq(share)),
        );
        let amended = recognitions::table.filter(recognitions::id.eq(Id(id)));
        self.execute(|conn| diesel::update(amended).set(changes).execute(conn))
    }
}
