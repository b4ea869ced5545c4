//! Deletes data past its retention, in small steps.

use std::time::Duration;

use super::{StoreError, Timestamp};
use crate::values::EventId;

pub trait Retention {
    /// Creates partitions for the events of the coming days if the tables are partitioned by time. Returns the number
    /// of new partitions. `retention` is how long delivered events are kept; `None` means forever.
    fn create_event_partitions(
        &mut self,
        now: Timestamp,
        retention: Option<Duration>,
    ) -> Result<usize, StoreError>;

    /// Drops the oldest partition in which all events were created before a time and were delivered, together with
    /// their attempts. Returns whether there was one.
    fn drop_expired_event_partition(&mut self, before: Timestamp) -> Result<bool, StoreError>;

    /// Deletes delivered events that were created before a time, with their attempts. Examines at most `limit` events
    /// with ids greater than the given one. Returns the number of deleted events and the id to continue after; `None`
    /// at the end. Skips the events of a partition that has not expired completely: it is dropped as a whole later. The
    /// last event is kept if the positions of future events depend on it.
    fn prune_events(
        &mut self,
        before: Timestamp,
        after: Option<EventId>,
        limit: i64,
    ) -> Result<(usize, Option<EventId>), StoreError>;

    /// Deletes up to `limit` sent notifications that were created before a time. Returns the number of deleted
    /// notifications.
    fn prune_notifications(&mut self, before: Timestamp, limit: i64) -> Result<usize, StoreError>;

    /// Deletes statistics past their retention: all such hours of the service, the oldest such hour of the providers
    /// and of the durations, and about `limit` rows of the oldest such day of the occasions. Returns the number of
    /// deleted rows; 0 means that none are left.
    fn prune_statistics(&mut self, now: Timestamp, limit: i64) -> Result<usize, StoreError>;
}
