//! Letting go of what is no longer needed, a little at a time.

use super::{StoreError, Timestamp};
use crate::values::EventId;

pub trait Retention {
    /// Deletes delivered events that were caused before a moment, with their attempts, of those behind an id; looks at no
    /// more than `limit`. Answers how many went, and behind which to go on; the latter is none at the end. The last event
    /// of all stays where the numbers of those to come depend on it.
    fn prune_events(
        &mut self,
        before: Timestamp,
        behind: Option<EventId>,
        limit: i64,
    ) -> Result<(usize, Option<EventId>), StoreError>;

    /// Deletes up to `limit` mails that were handed over and caused before a moment; answers how many went.
    fn prune_mails(&mut self, before: Timestamp, limit: i64) -> Result<usize, StoreError>;

    /// Deletes figures of hours and days that nothing shows any more: of one hour, and of one day those of some companies,
    /// found in `limit` rows. Answers how many went; 0 is the end.
    fn prune_figures(&mut self, now: Timestamp, limit: i64) -> Result<usize, StoreError>;
}
