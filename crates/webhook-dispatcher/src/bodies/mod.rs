//! Renders the bodies of events as compact JSON with the keys in a fixed order (behaviour 23.3, 23.4).

mod envelope;
mod erase;
mod recognition;
mod redemption;
mod sample_values;

use guerdon_domain::events::{Event, EventFacts, EventKind};
use guerdon_domain::ports::{EventBodies, IdGenerator, RenderError, Timestamp};
use guerdon_domain::values::{EmailAddress, UserId};
use schemars::Schema;
use serde::Deserialize;
use serde_json::value::RawValue;

/// Renders events (behaviour 23.3).
#[derive(Debug, Clone, Copy, Default)]
pub struct Bodies;

/// Returns the JSON Schema of the bodies of this kind of event. Its descriptions may end with an example, which is
/// JSON between backticks after `Example:`.
pub fn body_schema(kind: EventKind) -> Schema {
    match kind {
        EventKind::RecognitionReceived | EventKind::RecognitionUpdated => {
            envelope::envelope_schema::<recognition::Data<'_>>(kind)
        }
        EventKind::RedemptionCreated => envelope::envelope_schema::<redemption::Data<'_>>(kind),
    }
}

/// Renders the body of an event of this kind with sample data and new ids.
pub fn render_example(
    kind: EventKind,
    ids: &dyn IdGenerator,
    created_at: Timestamp,
) -> Result<Vec<u8>, RenderError> {
    match kind {
        EventKind::RecognitionReceived | EventKind::RecognitionUpdated => {
            recognition::render_example(kind, ids, created_at)
        }
        EventKind::RedemptionCreated => redemption::render_example(kind, ids),
    }
}

/// The parts of a body that determine how its data is read.
#[derive(Deserialize)]
struct UnreadBody<'a> {
    r#type: String,
    #[serde(borrow)]
    data: &'a RawValue,
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
        let UnreadBody { r#type, data } = serde_json::from_slice(body).ok()?;
        let kind = EventKind::from_name(&r#type)?;
        match kind {
            EventKind::RecognitionReceived | EventKind::RecognitionUpdated => {
                recognition::parse_facts(kind, data.get())
            }
            EventKind::RedemptionCreated => redemption::parse_facts(kind, data.get()),
        }
    }

    fn erase_user(&self, body: &[u8], user: UserId, email: &EmailAddress) -> Result<Vec<u8>, RenderError> {
        erase::erase_person(body, user, email)
    }
}

#[cfg(test)]
mod tests {
    use guerdon_domain::events::{EventFacts, EventKind};
    use guerdon_domain::ports::{EventBodies as _, IdGenerator, Timestamp};
    use uuid::Uuid;

    use super::{Bodies, render_example};

    struct SameId;

    impl IdGenerator for SameId {
        fn next_id(&self) -> Uuid {
            Uuid::from_u128(1)
        }
    }

    #[test]
    fn an_example_of_every_kind_has_the_facts_of_its_kind() {
        for kind in EventKind::ALL {
            let body = render_example(*kind, &SameId, Timestamp::UNIX_EPOCH).unwrap();
            assert_eq!(Bodies.parse_facts(&body).map(|facts| facts.kind), Some(*kind));
        }
    }

    #[test]
    fn facts_are_parsed_from_known_kinds_and_from_nothing_else() {
        let id = Uuid::from_u128;
        let recognition = format!(
            r#"{{"type":"recognition.received","version":"1.0","data":{{"id":"{}","sender_id":"{}","receiver_id":"{}","points":5,"company_id":"{}","message":null}}}}"#,
            id(1),
            id(2),
            id(3),
            id(4)
        );
        let expected = EventFacts {
            kind: EventKind::RecognitionReceived,
            object_id: id(1),
            company: id(4),
            sender: Some(id(2)),
            receiver: Some(id(3)),
            points: 5,
        };
        assert_eq!(Bodies.parse_facts(recognition.as_bytes()), Some(expected));
        let redemption = format!(
            r#"{{"type":"redemption.created","data":{{"user_id":"{}","points":3,"company_id":"{}"}}}}"#,
            id(1),
            id(4)
        );
        let facts = Bodies.parse_facts(redemption.as_bytes()).unwrap();
        assert_eq!((facts.object_id, facts.sender, facts.points), (id(1), None, 3));
        let wrong = recognition.replace("\"points\":5", "\"points\":\"5\"");
        for body in ["", "{}", r#"{"type":"other","data":{}}"#, &wrong] {
            assert_eq!(Bodies.parse_facts(body.as_bytes()), None, "{body}");
        }
    }

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
