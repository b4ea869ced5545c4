//! Events, queued in the transaction of their cause; their bytes are made once.

use uuid::Uuid;

use super::{StoreError, Timestamp};
use crate::events::{RecognitionEvent, RedemptionEvent};
use crate::values::{EventId, ProviderId};

/// The kinds of event (spec §6.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventKind {
    /// `recognition.received`
    RecognitionReceived,
    /// `recognition.updated`
    RecognitionUpdated,
    /// `redemption.created`
    RedemptionCreated,
}

impl EventKind {
    /// Every kind.
    pub const ALL: [Self; 3] = [Self::RecognitionReceived, Self::RecognitionUpdated, Self::RedemptionCreated];

    /// The name in the envelope.
    pub fn name(self) -> &'static str {
        match self {
            Self::RecognitionReceived => "recognition.received",
            Self::RecognitionUpdated => "recognition.updated",
            Self::RedemptionCreated => "redemption.created",
        }
    }
}

/// Renders events to the bytes that every attempt sends.
pub trait EventBodies: Send + Sync {
    /// The body of an event about a recognition; `kind` is one of the two recognition kinds.
    fn recognition(&self, kind: EventKind, event: &RecognitionEvent<'_>) -> Vec<u8>;

    /// The body of an event about a redemption.
    fn redemption(&self, event: &RedemptionEvent<'_>) -> Vec<u8>;
}

/// An event to be delivered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewEvent {
    /// Its id, constant over attempts and replays.
    pub id: EventId,
    /// To whom.
    pub provider_id: ProviderId,
    /// What kind.
    pub kind: EventKind,
    /// The recognition or redemption that it tells of.
    pub cause: Uuid,
    /// The bytes to send.
    pub body: Vec<u8>,
    /// Whether the provider has a callback URL; without one the event is kept, unaddressed (contract §8.4).
    pub addressed: bool,
    /// When it was caused.
    pub created_at: Timestamp,
}

/// What has become of an event (contract §8.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventState {
    /// Waits for its next attempt.
    Pending,
    /// Confirmed by its receiver.
    Delivered,
    /// Failed for the last time; kept.
    Exhausted,
    /// Its provider had no callback URL; kept.
    Unaddressed,
}

impl EventState {
    /// Every state.
    pub const ALL: [Self; 4] = [Self::Pending, Self::Delivered, Self::Exhausted, Self::Unaddressed];

    /// The name that operators use.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Delivered => "delivered",
            Self::Exhausted => "exhausted",
            Self::Unaddressed => "unaddressed",
        }
    }
}

/// An event as an operator sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueuedEvent {
    /// Its id.
    pub id: EventId,
    /// To whom.
    pub provider_id: ProviderId,
    /// What kind.
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

/// Reading the outbox.
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
pub trait Outbox: ReadOutbox {
    /// Adds events to the outbox, the addressed ones due at once; any number of them.
    fn queue_events(&mut self, events: &[NewEvent]) -> Result<(), StoreError>;

    /// Makes an event due at once, on a schedule that begins anew; `None` where there is no such event, `false` where
    /// it is pending as it is.
    fn replay_event(&mut self, id: EventId, now: Timestamp) -> Result<Option<bool>, StoreError>;

    /// Does so with all events of a provider that are exhausted, or unaddressed; answers how many.
    fn replay_events(
        &mut self,
        provider: ProviderId,
        state: EventState,
        now: Timestamp,
    ) -> Result<usize, StoreError>;
}
