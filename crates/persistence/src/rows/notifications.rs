//! Notifications in the outbox.

use diesel::prelude::*;
use guerdon_domain::ports::{
    ClaimedNotification, NewNotification, NotificationState, StoreError, StoredNotification,
};
use guerdon_domain::values::{CompanyId, ProviderId};

use super::notification_json::{from_json, to_json};
use super::schema::notifications;
use super::{DbTimestamp, Id, RowReader, declare_row};

declare_row! {
    #[derive(Insertable)]
    struct NotificationRow<'a> in notifications {
        id: Id,
        company_id: Id<CompanyId>,
        provider_id: Id<ProviderId>,
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
            provider_id: Id(new.provider_id),
            channel: new.recipient.channel().code(),
            recipient: new.recipient.address(),
            notification: to_json(&new.notification),
            state: NotificationState::Waiting.code(),
            attempts: 0,
            next_attempt_at: Some(DbTimestamp(new.created_at)),
            created_at: DbTimestamp(new.created_at),
        }
    }
}

declare_row! {
    #[derive(Queryable, QueryableByName, Selectable)]
    struct StoredNotificationRow in notifications {
        id: Id,
        company_id: Id<CompanyId>,
        recipient: String,
        notification: String,
        state: i16,
        attempts: i16,
        created_at: DbTimestamp,
    }
}

impl StoredNotificationRow {
    /// The notification as the sender that claimed it sees it.
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

    /// The notification as an operator sees it.
    pub(crate) fn into_stored_notification(self) -> Result<StoredNotification, StoreError> {
        let reader = RowReader { table: "notifications", id: &self.id.0 };
        Ok(StoredNotification {
            id: self.id.0,
            recipient: self.recipient,
            notification: from_json(self.company_id.0, &self.notification),
            state: reader.require_valid("state", NotificationState::from_code(self.state))?,
            attempts: reader.require_valid("attempts", u16::try_from(self.attempts).ok())?,
            created_at: self.created_at.0,
        })
    }
}
