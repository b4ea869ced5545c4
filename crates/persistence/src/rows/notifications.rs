//! Notifications in the outbox.

use diesel::prelude::*;
use guerdon_domain::ports::{
    ClaimedNotification, NewNotification, NotificationState, StoreError, StoredNotification,
};
use guerdon_domain::values::CompanyId;

use super::RowReader;
use super::columns::declare_row;
use super::notification_json::{from_json, to_json};
use super::schema::notifications;
use super::types::{DbTimestamp, Id};

/// The states of notifications.
pub(crate) mod notification_state {
    pub(crate) const WAITING: i16 = 1;
    pub(crate) const SENT: i16 = 2;
    pub(crate) const GIVEN_UP: i16 = 3;

    pub(crate) fn state_code(state: super::NotificationState) -> i16 {
        match state {
            super::NotificationState::Waiting => WAITING,
            super::NotificationState::Sent => SENT,
            super::NotificationState::GivenUp => GIVEN_UP,
        }
    }
}

declare_row! {
    #[derive(Insertable)]
    struct NotificationRow<'a> in notifications {
        id: Id,
        company_id: Id<CompanyId>,
        channel: i16,
        recipient: &'a str,
        notification: String,
        state: i16,
        attempts: i16,
        next_attempt_at: Option<DbTimestamp>,
        created_at: DbTimestamp,
    }
}

impl<'a> NotificationRow<'a> {
    pub(crate) fn from_new_notification(new: &'a NewNotification) -> Self {
        Self {
            id: Id(new.id),
            company_id: Id(new.company_id),
            channel: new.recipient.channel().code(),
            recipient: new.recipient.address(),
            notification: to_json(&new.notification),
            state: notification_state::WAITING,
            attempts: 0,
            next_attempt_at: Some(DbTimestamp(new.created_at)),
            created_at: DbTimestamp(new.created_at),
        }
    }
}

declare_row! {
    /// A notification that was just claimed.
    #[derive(QueryableByName)]
    struct ClaimedNotificationRow in notifications {
        id: Id,
        company_id: Id<CompanyId>,
        recipient: String,
        notification: String,
        attempts: i16,
        created_at: DbTimestamp,
    }
}

impl ClaimedNotificationRow {
    pub(crate) fn into_claimed_notification(self) -> Result<ClaimedNotification, StoreError> {
        let reader = RowReader { table: "notifications", id: &self.id.0 };
        let notification = from_json(self.company_id.0, &self.notification);
        Ok(ClaimedNotification {
            id: self.id.0,
            recipient: self.recipient,
            notification: reader.require_valid("notification", notification)?,
            attempts: reader.require_valid("attempts", u16::try_from(self.attempts).ok())?,
            created_at: self.created_at.0,
        })
    }
}

/// A notification as an operator sees it.
#[derive(Queryable, Selectable)]
#[diesel(table_name = notifications)]
pub(crate) struct StoredNotificationRow {
    id: Id,
    company_id: Id<CompanyId>,
    recipient: String,
    notification: String,
    state: i16,
    attempts: i16,
    created_at: DbTimestamp,
}

impl StoredNotificationRow {
    pub(crate) fn into_stored_notification(self) -> Result<StoredNotification, StoreError> {
        let reader = RowReader { table: "notifications", id: &self.id.0 };
        let states = [NotificationState::Waiting, NotificationState::Sent, NotificationState::GivenUp];
        let notification = from_json(self.company_id.0, &self.notification);
        let state = states.into_iter().find(|state| notification_state::state_code(*state) == self.state);
        Ok(StoredNotification {
            id: self.id.0,
            recipient: self.recipient,
            notification: reader.require_valid("notification", notification)?,
            state: reader.require_valid("state", state)?,
            attempts: reader.require_valid("attempts", u16::try_from(self.attempts).ok())?,
            created_at: self.created_at.0,
        })
    }
}
