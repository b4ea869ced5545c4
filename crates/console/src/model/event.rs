//! Events and the attempts to deliver them.

use time::OffsetDateTime;

use super::attempt::Attempt;
use super::provider::Provider;
use super::{Named, Stretch};

/// What has become of an event.
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
    pub const ALL: [Self; 4] = [Self::Pending, Self::Delivered, Self::Exhausted, Self::Unaddressed];

    /// As commands and parameters name it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Delivered => "delivered",
            Self::Exhausted => "exhausted",
            Self::Unaddressed => "unaddressed",
        }
    }

    /// The state of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.name() == name)
    }
}

/// A piece of the events, newest first.
#[derive(Debug, Clone)]
pub struct Events {
    pub list: Stretch<EventRow>,
    /// Those that one can choose among.
    pub providers: Vec<Named>,
    /// All types there are.
    pub types: Vec<String>,
}

/// An event among others.
#[derive(Debug, Clone)]
pub struct EventRow {
    pub id: String,
    /// Such as `recognition.received`.
    pub kind: String,
    pub state: EventState,
    pub provider: Named,
    pub attempts: u32,
    pub created_at: OffsetDateTime,
    /// Of a pending one.
    pub next_attempt_at: Option<OffsetDateTime>,
}

/// An event by itself.
#[derive(Debug, Clone)]
pub struct Event {
    pub id: String,
    /// Such as `recognition.received`.
    pub kind: String,
    pub state: EventState,
    pub provider: Provider,
    pub company: Named,
    pub created_at: OffsetDateTime,
    /// Of a pending one.
    pub next_attempt_at: Option<OffsetDateTime>,
    /// JSON, as it is sent. The page shows figures, ids and times of it; names, addresses and messages it hides.
    pub body: String,
    /// Oldest first.
    pub attempts: Vec<Attempt>,
}
