//! Events, queued in the transaction of their cause; their bytes are made once.

use super::{StoreError, Timestamp};
use crate::model::{Event, EventKind, EventState};
use crate::values::{CauseId, CompanyId, EventId, ProviderId};

/// An event could not be rendered; what was caused is undone with it.
#[derive(Debug, Clone, thiserror::Error)]
#[error("an event cannot be rendered: {0}")]
pub struct Unrenderable(pub String);

impl From<Unrenderable> for StoreError {
    fn from(cause: Unrenderable) -> Self {
        Self::Broken(cause.to_string())
    }
}

/// Renders events to the bytes that every attempt sends.
pub trait EventBodies: Send + Sync {
    /// The body of an event.
    fn body(&self, event: &Event<'_>) -> Result<Vec<u8>, Unrenderable>;
}

/// An event to be delivered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewEvent {
    /// Its id, constant over attempts and replays: that of what it tells of, the recognition, the amendment or the
    /// redemption, each of which is told once.
    pub id: EventId,
    pub company_id: CompanyId,
    /// To whom.
    pub provider_id: ProviderId,
    pub kind: EventKind,
    pub cause: CauseId,
    /// The bytes to send.
    pub body: Vec<u8>,
    /// Whether the provider has a callback URL; without one the event is kept, unaddressed (behaviour 23.10).
    pub addressed: bool,
    /// When it was caused.
    pub created_at: Timestamp,
}

/// An event as an operator sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueuedEvent {
    pub id: EventId,
    /// To whom.
    pub provider_id: ProviderId,
    pub kind: EventKind,
    /// What has become of it.
    pub state: EventState,
    /// Attempts made, over all replays.
    pub attempts: u16,
    /// When it is tried again, or when the lease of whoever is trying it ends.
    pub next_attempt_at: Option<Timestamp>,
    /// When it was caused.
    pub created_at: Timestamp,
}

/// How much waits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Depth {
    /// How many events are pending.
    pub pending: i64,
    /// When the oldest of them was caused.
    pub oldest: Option<Timestamp>,
}

pub trait ReadOutbox {
    /// The events of a provider and a state, or of all, oldest first; at most `limit`.
    fn events(
        &mut self,
        provider: Option<ProviderId>,
        state: Option<EventState>,
        limit: i64,
    ) -> Result<Vec<QueuedEvent>, StoreError>;

    /// How much waits.
    fn outbox_depth(&mut self) -> Result<Depth, StoreError>;
}

/// Queueing events.
pub trait Outbox {
    /// Adds events to the outbox, the addressed ones due at once; any number of them.
    fn queue_events(&mut self, events: &[NewEvent]) -> Result<(), StoreError>;
}

/// Sending events again.
pub trait Replays {
    /// Makes an event due at once: one that ended on a schedule that begins anew, one that waits on the one it has. `None`
    /// where there is no such event, `false` where it is due or under way as it is.
    fn replay_event(&mut self, id: EventId, now: Timestamp) -> Result<Option<bool>, StoreError>;

    /// Does so with all events of a provider that are exhausted, or unaddressed; answers how many.
    fn replay_events(
        &mut self,
        provider: ProviderId,
        state: EventState,
        now: Timestamp,
    ) -> Result<usize, StoreError>;
}
