//! The other parts of a [`Context`](crate::ports::Context), for callers without a clock, ids or receivers of
//! events.

use std::sync::atomic::{AtomicU64, Ordering};

use uuid::Uuid;

use crate::model::{Event, EventFacts};
use crate::ports::{Clock, EventBodies, IdGenerator, RenderError, Timestamp};
use crate::values::{EmailAddress, UserId};

/// A clock that does not advance.
#[derive(Debug, Clone, Copy)]
pub struct FixedClock(pub Timestamp);

impl Clock for FixedClock {
    fn now(&self) -> Timestamp {
        self.0
    }
}

/// Ids that count from 1. They are unique only within one instance.
#[derive(Debug, Default)]
pub struct SequentialIds(AtomicU64);

impl IdGenerator for SequentialIds {
    fn next_id(&self) -> Uuid {
        Uuid::from_u64_pair(0, 1 + self.0.fetch_add(1, Ordering::Relaxed))
    }
}

/// Event bodies that contain only the facts of the event, on one line.
#[derive(Debug, Clone, Copy)]
pub struct PlainBodies;

impl EventBodies for PlainBodies {
    fn render_event(&self, event: &Event<'_>) -> Result<Vec<u8>, RenderError> {
        Ok(event.facts().to_string().into())
    }

    fn parse_facts(&self, body: &[u8]) -> Option<EventFacts> {
        EventFacts::parse(std::str::from_utf8(body).ok()?)
    }

    fn erase_user(&self, body: &[u8], _: UserId, _: &EmailAddress) -> Result<Vec<u8>, RenderError> {
        Ok(body.to_vec())
    }
}
