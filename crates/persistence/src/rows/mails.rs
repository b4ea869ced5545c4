//! Mails.

use diesel::prelude::*;
use guerdon_domain::notifications::MailText;
use guerdon_domain::ports::{ClaimedMail, KeptMail, MailState, NewMail, StoreError};
use guerdon_domain::values::CompanyId;

use super::Reading;
use super::columns::row;
use super::notifications::{from_json, to_json};
use super::schema::mails;
use super::types::{At, Id};

/// The states of mails.
pub(crate) mod mail {
    pub(crate) const WAITING: i16 = 1;
    pub(crate) const SENT: i16 = 2;
    pub(crate) const GIVEN_UP: i16 = 3;

    pub(crate) fn code(state: super::MailState) -> i16 {
        match state {
            super::MailState::Waiting => WAITING,
            super::MailState::Sent => SENT,
            super::MailState::GivenUp => GIVEN_UP,
        }
    }
}

row! {
    #[derive(Insertable)]
    struct MailRow<'a> in mails {
        id: Id,
        company_id: Id<CompanyId>,
        recipient: &'a str,
        notification: String,
        state: i16,
        attempts: i16,
        next_attempt_at: Option<At>,
        created_at: At,
    }
}

impl<'a> MailRow<'a> {
    pub(crate) fn of(it: &'a NewMail) -> Self {
        Self {
            id: Id(it.id),
            company_id: Id(it.company_id),
            recipient: it.recipient.as_str(),
            notification: to_json(&it.notification),
            state: mail::WAITING,
            attempts: 0,
            next_attempt_at: Some(At(it.created_at)),
            created_at: At(it.created_at),
        }
    }
}

row! {
    /// A mail that was just claimed.
    #[derive(QueryableByName)]
    struct ClaimedMailRow in mails {
        id: Id,
        company_id: Id<CompanyId>,
        recipient: String,
        notification: String,
        attempts: i16,
        created_at: At,
    }
}

impl ClaimedMailRow {
    pub(crate) fn read(self) -> Result<ClaimedMail, StoreError> {
        let reading = Reading { table: "mails", id: &self.id.0 };
        let notification = from_json(self.company_id.0, &self.notification);
        let MailText { subject, body } = reading.make("notification", notification)?.mail();
        Ok(ClaimedMail {
            id: self.id.0,
            recipient: self.recipient,
            subject,
            body,
            attempts: reading.make("attempts", u16::try_from(self.attempts).ok())?,
            created_at: self.created_at.0,
        })
    }
}

/// A mail as an operator sees it.
#[derive(Queryable, Selectable)]
#[diesel(table_name = mails)]
pub(crate) struct KeptMailRow {
    id: Id,
    company_id: Id<CompanyId>,
    recipient: String,
    notification: String,
    state: i16,
    attempts: i16,
    created_at: At,
}

impl KeptMailRow {
    pub(crate) fn read(self) -> Result<KeptMail, StoreError> {
        let reading = Reading { table: "mails", id: &self.id.0 };
        let states = [MailState::Waiting, MailState::Sent, MailState::GivenUp];
        let notification = from_json(self.company_id.0, &self.notification);
        let state = states.into_iter().find(|state| mail::code(*state) == self.state);
        Ok(KeptMail {
            id: self.id.0,
            recipient: self.recipient,
            subject: reading.make("notification", notification)?.mail().subject,
            state: reading.make("state", state)?,
            attempts: reading.make("attempts", u16::try_from(self.attempts).ok())?,
            created_at: self.created_at.0,
        })
    }
}
