//! Mails.

use diesel::prelude::*;
use guerdon_domain::notifications::MailText;
use guerdon_domain::ports::{ClaimedMail, MailState, NewMail, StoreError, StoredMail};
use guerdon_domain::values::CompanyId;

use super::RowReader;
use super::columns::declare_row;
use super::notifications::{from_json, to_json};
use super::schema::mails;
use super::types::{DbTimestamp, Id};

/// The states of mails.
pub(crate) mod mail_state {
    pub(crate) const WAITING: i16 = 1;
    pub(crate) const SENT: i16 = 2;
    pub(crate) const GIVEN_UP: i16 = 3;

    pub(crate) fn state_code(state: super::MailState) -> i16 {
        match state {
            super::MailState::Waiting => WAITING,
            super::MailState::Sent => SENT,
            super::MailState::GivenUp => GIVEN_UP,
        }
    }
}

declare_row! {
    #[derive(Insertable)]
    struct MailRow<'a> in mails {
        id: Id,
        company_id: Id<CompanyId>,
        recipient: &'a str,
        notification: String,
        state: i16,
        attempts: i16,
        next_attempt_at: Option<DbTimestamp>,
        created_at: DbTimestamp,
    }
}

impl<'a> MailRow<'a> {
    pub(crate) fn from_new_mail(new_mail: &'a NewMail) -> Self {
        Self {
            id: Id(new_mail.id),
            company_id: Id(new_mail.company_id),
            recipient: new_mail.recipient.as_str(),
            notification: to_json(&new_mail.notification),
            state: mail_state::WAITING,
            attempts: 0,
            next_attempt_at: Some(DbTimestamp(new_mail.created_at)),
            created_at: DbTimestamp(new_mail.created_at),
        }
    }
}

declare_row! {
    /// A mail that was just claimed.
    #[derive(QueryableByName)]
    struct ClaimedMailRow in mails {
        id: Id,
        company_id: Id<CompanyId>,
        recipient: String,
        notification: String,
        attempts: i16,
        created_at: DbTimestamp,
    }
}

impl ClaimedMailRow {
    pub(crate) fn into_claimed_mail(self) -> Result<ClaimedMail, StoreError> {
        let reader = RowReader { table: "mails", id: &self.id.0 };
        let notification = from_json(self.company_id.0, &self.notification);
        let MailText { subject, body } = reader.require_valid("notification", notification)?.to_mail();
        Ok(ClaimedMail {
            id: self.id.0,
            recipient: self.recipient,
            subject,
            body,
            attempts: reader.require_valid("attempts", u16::try_from(self.attempts).ok())?,
            created_at: self.created_at.0,
        })
    }
}

/// A mail as an operator sees it.
#[derive(Queryable, Selectable)]
#[diesel(table_name = mails)]
pub(crate) struct StoredMailRow {
    id: Id,
    company_id: Id<CompanyId>,
    recipient: String,
    notification: String,
    state: i16,
    attempts: i16,
    created_at: DbTimestamp,
}

impl StoredMailRow {
    pub(crate) fn into_stored_mail(self) -> Result<StoredMail, StoreError> {
        let reader = RowReader { table: "mails", id: &self.id.0 };
        let states = [MailState::Waiting, MailState::Sent, MailState::GivenUp];
        let notification = from_json(self.company_id.0, &self.notification);
        let state = states.into_iter().find(|state| mail_state::state_code(*state) == self.state);
        Ok(StoredMail {
            id: self.id.0,
            recipient: self.recipient,
            subject: reader.require_valid("notification", notification)?.to_mail().subject,
            state: reader.require_valid("state", state)?,
            attempts: reader.require_valid("attempts", u16::try_from(self.attempts).ok())?,
            created_at: self.created_at.0,
        })
    }
}
