//! Events, queued in the transaction of their cause; their bytes are made once.

use super::{StoreError, Timestamp};
use crate::events::RecognitionEvent;
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
    /// The bytes to send.
    pub body: Vec<u8>,
    /// Whether the provider has a callback URL; without one the event is kept, unaddressed (contract §8.4).
    pub addressed: bool,
    /// When it was caused.
    pub created_at: Timestamp,
}

/// Queueing events.
pub trait Outbox {
    /// Adds events to the outbox, the addressed ones due at once; any number of them.
    fn queue_events(&mut self, events: &[NewEvent]) -> Result<(), StoreError>;
}
