//! The bodies of events: compact JSON with keys in a fixed order (behaviour 23.3, 23.4).

mod envelope;
mod erased;
mod facts;
mod recognition;
mod redemption;

use guerdon_domain::events::{Event, EventFacts, EventKind};
use guerdon_domain::ports::{EventBodies, Unrenderable};
use guerdon_domain::values::{EmailAddress, UserId};
use schemars::Schema;

/// Renders events (behaviour 23.3).
#[derive(Debug, Clone, Copy, Default)]
pub struct Bodies;

/// Returns the JSON Schema of the bodies of this kind of event.
pub fn schema(kind: EventKind) -> Schema {
    match kind {
        EventKind::RecognitionReceived | EventKind::RecognitionUpdated => {
            envelope::schema::<recognition::Data<'_>>(kind)
        }
        EventKind::RedemptionCreated => envelope::schema::<redemption::Data<'_>>(kind),
    }
}

impl EventBodies for Bodies {
    fn body(&self, event: &Event<'_>) -> Result<Vec<u8>, Unrenderable> {
        let kind = event.kind();
        match event {
            Event::RecognitionReceived(it) | Event::RecognitionUpdated(it) => {
                envelope::render(kind, recognition::Data::of(it))
            }
            Event::RedemptionCreated(it) => envelope::render(kind, redemption::Data::of(it)),
        }
    }

    fn facts(&self, body: &[u8]) -> Option<EventFacts> {
        facts::of(body)
    }

    fn without(&self, body: &[u8], user: UserId, email: &EmailAddress) -> Result<Vec<u8>, Unrenderable> {
        erased::from(body, user, email)
    }
}

#[cfg(test)]
mod tests {
    use guerdon_domain::events::EventKind;

    #[test]
    fn every_kind_is_on_the_pages_that_receivers_read() {
        for page in [
            include_str!("../../../../docs/receiving-events.md"),
            include_str!("../../../../docs/specified-behaviour.md"),
        ] {
            for kind in EventKind::ALL {
                assert!(page.contains(&format!("| `{}` |", kind.name())), "{} is missing", kind.name());
            }
        }
    }
}
