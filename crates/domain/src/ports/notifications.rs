//! The outbox of notifications. They are queued in the transaction that causes them. The sender of a channel claims
//! them under a lease, attempts each outside any transaction, and then settles it.

use std::time::Duration;

use uuid::Uuid;

use super::{StoreError, Timestamp};
use crate::model::{Channel, NewNotification, Notification};
use crate::values::{ProviderId, stored_enum};

stored_enum! {
    /// The state of a notification.
    enum NotificationState {
        /// The notification waits for its next attempt.
        Waiting => 1, "waiting";
        /// The channel accepted it.
        Sent => 2, "sent";
        /// The final attempt failed. The notification is still stored.
        GivenUp => 3, "given-up";
    }
}

/// A notification as an operator sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredNotification {
    pub id: Uuid,
    /// The address in the format of the channel.
    pub recipient: String,
    /// `None` if the stored notification cannot be read.
    pub notification: Option<Notification>,
    pub state: NotificationState,
    /// The number of attempts.
    pub attempts: u16,
    /// When it was created.
    pub created_at: Timestamp,
}

/// A query of notifications by an operator. All conditions must hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotificationQuery {
    pub channel: Channel,
    pub state: Option<NotificationState>,
    /// Created at this time or later.
    pub since: Option<Timestamp>,
    /// The maximum number of notifications.
    pub limit: i64,
}

/// The number of a channel's notifications that were not sent, by state.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct UnsentNotificationCounts {
    /// Notifications that wait for the next attempt, or are claimed for one.
    pub waiting: i64,
    /// Notifications that were given up after the final attempt, and are still stored.
    pub given_up: i64,
}

pub trait ReadNotifications {
    /// The notifications that match, newest first.
    fn list_notifications(
        &mut self,
        query: &NotificationQuery,
    ) -> Result<Vec<StoredNotification>, StoreError>;

    /// Counts the notifications of a channel that were not sent.
    fn count_unsent_notifications(
        &mut self,
        channel: Channel,
    ) -> Result<UnsentNotificationCounts, StoreError>;
}

/// The due time of a notification that an operator retries. Such a notification is sent before all others, even
/// while the channel is considered unavailable.
pub const RETRIED_NOTIFICATION_DUE: Timestamp = Timestamp::UNIX_EPOCH;

/// Queues notifications.
pub trait NotificationOutbox {
    fn queue_notifications(&mut self, new: &[NewNotification]) -> Result<(), StoreError>;
}

/// A request to claim notifications.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotificationClaim {
    pub channel: Channel,
    /// The provider whose notifications were claimed last.
    pub after: Option<ProviderId>,
    /// The maximum number of notifications.
    pub limit: u16,
    /// Notifications that are due at this time.
    pub now: Timestamp,
    /// The end of the lease. Until then no other process may claim them.
    pub lease_until: Timestamp,
    /// The id of the lease. It must be presented to settle the notifications.
    pub lease: Uuid,
}

/// Notifications of one provider that were claimed together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimedNotifications {
    pub provider: ProviderId,
    pub notifications: Vec<ClaimedNotification>,
}

/// A notification that was claimed for one attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimedNotification {
    pub id: Uuid,
    /// The address in the format of the channel. It was valid when the notification was queued.
    pub recipient: String,
    pub notification: Notification,
    /// The number of previous attempts.
    pub attempts: u16,
    /// When the notification was queued.
    pub created_at: Timestamp,
}

/// The result for a claimed notification.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotificationOutcome {
    /// The channel accepted the notification.
    Sent,
    /// The attempt failed; the next one is due at this time.
    RetryAt(Timestamp),
    /// The notification is stored, but not retried.
    GivenUp,
    /// No attempt was made; the notification is due again at this time.
    Released(Timestamp),
}

/// Claims, settles and retries notifications.
pub trait NotificationDeliveries {
    /// Makes a waiting or given-up notification due at [`RETRIED_NOTIFICATION_DUE`]. A given-up notification starts
    /// with zero attempts again. Returns false if the channel has no such notification, or if it is claimed at the
    /// moment.
    fn retry_notification(&mut self, channel: Channel, id: Uuid) -> Result<bool, StoreError>;

    /// Claims due notifications of one provider: of one with a retried notification, or else of the next one after
    /// [`NotificationClaim::after`]. Returns `None` if no notification of the channel is due. Skips notifications that
    /// another process is claiming. A notification that cannot be read is claimed as well, but not returned, so that it
    /// does not block the others.
    fn claim_notifications(
        &mut self,
        claim: &NotificationClaim,
    ) -> Result<Option<ClaimedNotifications>, StoreError>;

    /// Writes the outcome of a notification whose lease still matches. Doing so again changes nothing. Every outcome
    /// except [`NotificationOutcome::Released`] counts as an attempt.
    fn settle_notification(
        &mut self,
        id: Uuid,
        lease: Uuid,
        outcome: NotificationOutcome,
    ) -> Result<(), StoreError>;

    /// When the next notification of a channel is due. A claimed notification is due at the end of its lease.
    fn next_notification_due(&mut self, channel: Channel) -> Result<Option<Timestamp>, StoreError>;

    /// Reschedules notifications of a channel whose next attempt is later than a limit by more than
    /// [`CLOCK_TOLERANCE`](super::CLOCK_TOLERANCE). There are such notifications after the clock was set back. A
    /// waiting notification, whose limit is `retry_wait_max` from `now`, becomes due at `now`. A claimed one, whose
    /// limit is `lease` from `now`, becomes due at that limit. Returns the number of rescheduled notifications.
    fn reschedule_notifications(
        &mut self,
        channel: Channel,
        now: Timestamp,
        retry_wait_max: Duration,
        lease: Duration,
    ) -> Result<usize, StoreError>;
}
