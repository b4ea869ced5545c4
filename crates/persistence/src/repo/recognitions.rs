//! Recognitions.

use diesel::dsl::{AsSelect, sum};
use diesel::prelude::*;
use guerdon_domain::ports::{Lookup, ReadRecognitions, Recognitions, Role, StoreError};
use guerdon_domain::recognitions::Recognition;
use guerdon_domain::values::{Message, Page, ProviderId, RecognitionId, UserId};

use super::{Db, Unit};
use crate::rows::schema::{companies, journal_entries, recognitions};
use crate::rows::{Id, RecognitionRow, SentRecognitionRow, kind};

type RecognitionColumns = (AsSelect<RecognitionRow, Db>, AsSelect<SentRecognitionRow, Db>);

/// Recognitions with the journal entries that sent them.
#[diesel::dsl::auto_type]
fn recognitions_with_entries() -> _ {
    let columns: RecognitionColumns = (RecognitionRow::as_select(), SentRecognitionRow::as_select());
    recognitions::table.inner_join(journal_entries::table).select(columns)
}

fn into_recognition((row, sent): (RecognitionRow, SentRecognitionRow)) -> Result<Recognition, StoreError> {
    row.into_recognition(sent)
}

/// Journal entries by which a user sent recognitions. No company has the id of a user, so the id alone identifies the
/// sender.
#[diesel::dsl::auto_type]
fn sent_by(user: UserId) -> _ {
    let (user, recognition): (Id<UserId>, i16) = (Id(user), kind::RECOGNITION);
    journal_entries::subject_id.eq(user).and(journal_entries::kind.eq(recognition))
}

impl ReadRecognitions for Unit<'_> {
    fn list_recognitions(
        &mut self,
        user: UserId,
        role: Role,
        page: Page,
    ) -> Result<Vec<Recognition>, StoreError> {
        let all = recognitions_with_entries().limit(page.limit()).offset(page.offset());
        self.list(into_recognition, |conn| match role {
            Role::Receiver => all
                .filter(recognitions::receiver_id.eq(Id(user)))
                .order((recognitions::created_at.desc(), recognitions::id.desc()))
                .get_results(conn),
            Role::Sender => all
                .filter(sent_by(user))
                .order((journal_entries::created_at.desc(), recognitions::id.desc()))
                .get_results(conn),
        })
    }

    fn find_recognition(
        &mut self,
        scope: ProviderId,
        id: RecognitionId,
    ) -> Result<Lookup<Recognition>, StoreError> {
        let columns: RecognitionColumns = (RecognitionRow::as_select(), SentRecognitionRow::as_select());
        self.find_in_scope(scope, into_recognition, |conn| {
            recognitions_with_entries()
                .inner_join(companies::table.on(recognitions::company_id.eq(companies::id)))
                .filter(recognitions::id.eq(Id(id)))
                .select((companies::provider_id, columns))
                .get_result(conn)
        })
    }

    fn find_recognition_any_provider(
        &mut self,
        id: RecognitionId,
    ) -> Result<Option<Recognition>, StoreError> {
        self.find(into_recognition, |conn| {
            recognitions_with_entries().filter(recognitions::id.eq(Id(id))).get_result(conn)
        })
    }

    fn count_recognitions(&mut self, user: UserId, role: Role) -> Result<i64, StoreError> {
        self.query(|conn| match role {
            Role::Receiver => {
                recognitions::table.filter(recognitions::receiver_id.eq(Id(user))).count().get_result(conn)
            }
            Role::Sender => {
                let sent = journal_entries::table.filter(sent_by(user)).select(sum(journal_entries::legs));
                sent.get_result(conn).map(Option::unwrap_or_default)
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
