//! Renders the bodies of events as compact JSON with the keys in a fixed order (behaviour 23.3, 23.4).

mod envelope;
mod erase;
mod facts;
mod recognition;
mod redemption;

use guerdon_domain::events::{Event, EventFacts, EventKind};
use guerdon_domain::ports::{EventBodies, RenderError};
use guerdon_domain::values::{EmailAddress, UserId};
use schemars::Schema;

/// Renders events (behaviour 23.3).
#[derive(Debug, Clone, Copy, Default)]
pub struct Bodies;

/// Returns the JSON Schema of the bodies of this kind of event.
pub fn body_schema(kind: EventKind) -> Schema {
    match kind {
        EventKind::RecognitionReceived | EventKind::RecognitionUpdated => {
            envelope::envelope_schema::<recognition::Data<'_>>(kind)
        }
        EventKind::RedemptionCreated => envelope::envelope_schema::<redemption::Data<'_>>(kind),
    }
}

impl EventBodies for Bodies {
    fn render_event(&self, event: &Event<'_>) -> Result<Vec<u8>, RenderError> {
        let kind = event.kind();
        match event {
            Event::RecognitionReceived(event) | Event::RecognitionUpdated(event) => {
                envelope::render_envelope(kind, recognition::Data::from_event(event))
            }
            Event::RedemptionCreated(event) => {
                envelope::render_envelope(kind, redemption::Data::from_event(event))
            }
        }
    }

    fn parse_facts(&self, body: &[u8]) -> Option<EventFacts> {
        facts::extract_facts(body)
    }

    fn erase_user(&self, body: &[u8], user: UserId, email: &EmailAddress) -> Result<Vec<u8>, RenderError> {
        erase::erase_person(body, user, email)
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
