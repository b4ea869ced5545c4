//! Extracts the facts about the ledger from a body, for `guerdon verify`.

use guerdon_domain::events::{EventFacts, EventKind};
use serde::Deserialize;
use uuid::Uuid;

#[derive(Deserialize)]
struct EventBody {
    r#type: String,
    data: FactData,
}

/// The fields of both data types that `guerdon verify` compares with the ledger.
#[derive(Deserialize)]
struct FactData {
    id: Option<Uuid>,
    user_id: Option<Uuid>,
    sender_id: Option<Uuid>,
    receiver_id: Option<Uuid>,
    company_id: Uuid,
    points: i64,
}

pub(super) fn extract_facts(body: &[u8]) -> Option<EventFacts> {
    let EventBody { r#type, data } = serde_json::from_slice(body).ok()?;
    let kind = EventKind::from_name(&r#type)?;
    let subject = match kind {
        EventKind::RecognitionReceived | EventKind::RecognitionUpdated => data.id,
        EventKind::RedemptionCreated => data.user_id,
    };
    Some(EventFacts {
        kind,
        subject: subject?,
        company: data.company_id,
        sender: data.sender_id,
        receiver: data.receiver_id,
        points: data.points,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_are_extracted_from_both_kinds_and_from_nothing_else() {
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
            subject: id(1),
            company: id(4),
            sender: Some(id(2)),
            receiver: Some(id(3)),
            points: 5,
        };
        assert_eq!(extract_facts(recognition.as_bytes()), Some(expected));
        let redemption = format!(
            r#"{{"type":"redemption.created","data":{{"user_id":"{}","points":3,"company_id":"{}"}}}}"#,
            id(1),
            id(4)
        );
        assert_eq!(
            extract_facts(redemption.as_bytes()).map(|facts| (facts.subject, facts.sender, facts.points)),
            Some((id(1), None, 3))
        );
        let wrong = recognition.replace("\"points\":5", "\"points\":\"5\"");
        for body in ["", "{}", r#"{"type":"other","data":{}}"#, &wrong] {
            assert_eq!(extract_facts(body.as_bytes()), None, "{body}");
        }
    }
}
