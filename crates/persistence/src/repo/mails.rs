//! Queues and delivers mails.

use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Nullable};
use guerdon_domain::ports::{
    ClaimedMail, MailDeliveries, MailOutbox, MailOutcome, MailRetries, MailState, NewMail, RETRIED_MAIL_DUE,
    ReadMails, StoreError, StoredMail, Timestamp,
};
use uuid::Uuid;

use super::super::{BOUND_VALUES_MAX, SKIP_LOCKED, placeholder};
use super::Unit;
use super::events::first_id_since;
use crate::rows::conditions::PENDING;
use crate::rows::schema::mails;
use crate::rows::types::{DbTimestamp, Id, SqlTimestamp};
use crate::rows::{ClaimedMailRow, DeclaredRow, MailRow, StoredMailRow, mail_state};
use crate::statement_chunks::split_into_statements;

/// The assumed maximum size of a mail in a statement.
const NOTIFICATION_BYTES_MAX: usize = 4_096;

impl MailOutbox for Unit<'_> {
    fn queue_mails(&mut self, new: &[NewMail]) -> Result<(), StoreError> {
        for slice in
            split_into_statements(new, BOUND_VALUES_MAX / MailRow::COLUMNS, |_| NOTIFICATION_BYTES_MAX)
        {
            let rows: Vec<MailRow<'_>> = slice.iter().map(MailRow::from_new_mail).collect();
            self.query(|conn| diesel::insert_into(mails::table).values(&rows).execute(conn))?;
        }
        self.queued.mails |= !new.is_empty();
        Ok(())
    }
}

impl ReadMails for Unit<'_> {
    fn list_mails(
        &mut self,
        state: Option<MailState>,
        since: Option<Timestamp>,
        limit: i64,
    ) -> Result<Vec<StoredMail>, StoreError> {
        let mut wanted = mails::table.select(StoredMailRow::as_select()).into_boxed();
        if let Some(state) = state {
            wanted = wanted.filter(mails::state.eq(mail_state::state_code(state)));
        }
        if let Some(since) = since {
            wanted = wanted.filter(
                mails::id.ge(Id(first_id_since(since))).and(mails::created_at.ge(DbTimestamp(since))),
            );
        }
        let wanted = wanted.order(mails::id.desc()).limit(limit); // ids increase with time
        let rows: Vec<StoredMailRow> = self.query(|conn| wanted.get_results(conn))?;
        self.record_failure(rows.into_iter().map(StoredMailRow::into_stored_mail).collect())
    }
}

impl MailRetries for Unit<'_> {
    fn retry_mail(&mut self, id: Uuid) -> Result<bool, StoreError> {
        let which = || mails::table.find(Id(id)).filter(mails::lease_id.is_null());
        let due = || mails::next_attempt_at.eq(Some(DbTimestamp(RETRIED_MAIL_DUE)));
        let reset = (mails::state.eq(mail_state::WAITING), mails::attempts.eq(0), due());
        let given_up = which().filter(mails::state.eq(mail_state::GIVEN_UP));
        let mut changed = self.query(|conn| diesel::update(given_up).set(reset).execute(conn))?;
        let waiting = which().filter(mails::state.eq(mail_state::WAITING));
        changed += self.query(|conn| diesel::update(waiting).set(due()).execute(conn))?;
        self.queued.mails |= changed > 0;
        Ok(changed > 0)
    }
}

impl MailDeliveries for Unit<'_> {
    fn claim_mails(
        &mut self,
        now: Timestamp,
        until: Timestamp,
        lease: Uuid,
        limit: u16,
    ) -> Result<Vec<ClaimedMail>, StoreError> {
        let query = format!(
            "SELECT {} FROM mails WHERE {PENDING} AND next_attempt_at <= {} \
             ORDER BY next_attempt_at, id LIMIT {}{SKIP_LOCKED}",
            ClaimedMailRow::COLUMN_NAMES,
            placeholder(1),
            placeholder(2)
        );
        let rows: Vec<ClaimedMailRow> = self.query(|conn| {
            diesel::sql_query(query)
                .bind::<SqlTimestamp, _>(DbTimestamp(now))
                .bind::<BigInt, _>(i64::from(limit))
                .get_results(conn)
        })?;
        let ids: Vec<Id> = rows.iter().map(|row| row.id).collect();
        if !ids.is_empty() {
            self.query(|conn| {
                diesel::update(mails::table.filter(mails::id.eq_any(&ids)))
                    .set((
                        mails::lease_id.eq(Some(Id(lease))),
                        mails::next_attempt_at.eq(Some(DbTimestamp(until))),
                    ))
                    .execute(conn)
            })?;
        }
        self.record_failure(rows.into_iter().map(ClaimedMailRow::into_claimed_mail).collect())
    }

    fn settle_mail(&mut self, id: Uuid, lease: Uuid, outcome: MailOutcome) -> Result<(), StoreError> {
        let (state, due) = match outcome {
            MailOutcome::Sent => (mail_state::SENT, None),
            MailOutcome::RetryAt(at) => (mail_state::WAITING, Some(DbTimestamp(at))),
            MailOutcome::GivenUp => (mail_state::GIVEN_UP, None),
        };
        self.query(|conn| {
            diesel::update(mails::table.find(Id(id)))
                .filter(mails::lease_id.eq(Some(Id(lease))))
                .set((
                    mails::state.eq(state),
                    mails::attempts.eq(mails::attempts + 1),
                    mails::next_attempt_at.eq(due),
                    mails::lease_id.eq(None::<Id>),
                ))
                .execute(conn)
        })?;
        Ok(())
    }

    fn next_mail_due(&mut self) -> Result<Option<Timestamp>, StoreError> {
        let query =
            sql::<Nullable<SqlTimestamp>>("SELECT min(next_attempt_at) FROM mails WHERE ").sql(PENDING);
        let found: Option<DbTimestamp> = self.query(|conn| query.get_result(conn))?;
        Ok(found.map(|found| found.0))
    }
}
