//! `recognition.received` and `recognition.updated`.

use guerdon_domain::events::{EventFacts, EventKind, RecognitionEvent, SenderName};
use guerdon_domain::ports::{IdGenerator, RenderError, Timestamp};
use guerdon_domain::recognitions::{Recognition, Sender};
use guerdon_domain::values::{Message, OccasionId, RecognitionId, UserId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::envelope::render_envelope;
use super::sample_values::{sample_points, sample_receiver};

/// The data of an event about a recognition. The order of the fields is the order in the body (behaviour 23.3). The
/// doc comments of the fields are the API's description of them.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "RecognitionData")]
pub(super) struct Data<'a> {
    /// The recognition's id. Example: `"019a9c3e-5d75-7177-be60-6d5e4f3a2b77"`
    #[schemars(extend("format" = "uuid"))]
    id: String,
    /// Whether a user or the company sends it. Example: `"user"`
    #[schemars(extend("enum" = ["user", "company"]))]
    sender_type: &'static str,
    /// The id of the user or of the company. Example: `"019a9c3e-5d71-7a10-8a52-1f0e9d3c4b22"`
    #[schemars(extend("format" = "uuid"))]
    sender_id: String,
    /// The name of the user or company that sent it. Example: `"Ada Lovelace"`
    sender_name: &'a str,
    /// The sender's email; null for a company. Example: `"ada@acme.example"`
    #[schemars(extend("format" = "email"))]
    sender_email: Option<&'a str>,
    /// The receiver. Example: `"019a9c3e-5d72-7e44-9b7d-3a2b1c0d9e44"`
    #[schemars(extend("format" = "uuid"))]
    receiver_id: String,
    /// The receiver's first and last name. Example: `"Grace Hopper"`
    receiver_name: String,
    /// The receiver's email. Example: `"grace@acme.example"`
    #[schemars(extend("format" = "email"))]
    receiver_email: &'a str,
    /// The occasion: one of the sender's company, or a global one. Example: `"019a9c3e-5d73-7f55-8c6e-4b3c2d1e0f55"`
    #[schemars(extend("format" = "uuid"))]
    occasion_id: String,
    /// The occasion's name. Example: `"Thank you"`
    occasion_name: &'a str,
    /// The points that the receiver got. Example: `10`
    #[schemars(range(min = 0))]
    points: i64,
    /// The company. Example: `"019a9c3e-5d70-7c41-9d0c-6a1c0f7e2b11"`
    #[schemars(extend("format" = "uuid"))]
    company_id: String,
    /// The message; null for a private recognition. Example: `"You made my day."`
    message: Option<&'a str>,
    /// When it was created, in UTC with milliseconds. Example: `"2026-11-20T20:01:02.345Z"`
    #[schemars(extend("format" = "date-time"))]
    created_at: String,
    /// True for a public recognition, false for a private one; true by default. Example: `true`
    share: bool,
}

impl<'a> Data<'a> {
    pub(super) fn from_event(event: &RecognitionEvent<'a>) -> Self {
        let recognition = event.recognition;
        Self {
            id: recognition.id.as_uuid().to_string(),
            sender_type: recognition.sender.type_name(),
            sender_id: recognition.sender.id().to_string(),
            sender_name: event.sender.name,
            sender_email: event.sender.email,
            receiver_id: event.receiver.id.as_uuid().to_string(),
            receiver_name: event.receiver.full_name(),
            receiver_email: event.receiver.email.as_str(),
            occasion_id: recognition.occasion_id.as_uuid().to_string(),
            occasion_name: event.occasion_name,
            points: recognition.points.get(),
            company_id: recognition.company_id.as_uuid().to_string(),
            message: recognition.share.then(|| recognition.message.as_str()),
            created_at: recognition.created_at.to_string(),
            share: recognition.share,
        }
    }
}

/// The fields that `guerdon verify` compares with the ledger.
#[derive(Deserialize)]
struct FactFields {
    id: Uuid,
    sender_id: Uuid,
    receiver_id: Uuid,
    company_id: Uuid,
    points: i64,
}

/// Reads the facts of the ledger from the data of an event; `None` if it cannot be parsed.
pub(super) fn parse_facts(kind: EventKind, data: &str) -> Option<EventFacts> {
    let FactFields { id, sender_id, receiver_id, company_id, points } = serde_json::from_str(data).ok()?;
    Some(EventFacts {
        kind,
        object_id: id,
        company: company_id,
        sender: Some(sender_id),
        receiver: Some(receiver_id),
        points,
    })
}

/// Renders an event with sample data.
pub(super) fn render_example(
    kind: EventKind,
    ids: &dyn IdGenerator,
    created_at: Timestamp,
) -> Result<Vec<u8>, RenderError> {
    let receiver = sample_receiver(ids)?;
    let recognition = Recognition {
        id: RecognitionId::from_uuid(ids.next_id()),
        receiver_id: receiver.id,
        sender: Sender::User(UserId::from_uuid(ids.next_id())),
        message: Message::parse("This is an example.").map_err(|error| RenderError(error.to_string()))?,
        points: sample_points(),
        share: true,
        occasion_id: OccasionId::from_uuid(ids.next_id()),
        company_id: receiver.company_id,
        created_at,
    };
    let sender = SenderName { name: "Ada Lovelace", email: Some("ada@example.com") };
    let event = RecognitionEvent {
        recognition: &recognition,
        sender: &sender,
        receiver: &receiver,
        occasion_name: "An example",
    };
    render_envelope(kind, Data::from_event(&event))
}

#[cfg(test)]
mod tests {
    use guerdon_domain::events::{Event, RecognitionEvent, SenderName};
    use guerdon_domain::money::Points;
    use guerdon_domain::ports::EventBodies;
    use guerdon_domain::recognitions::{Recognition, Sender};
    use guerdon_domain::users::UserSummary;
    use guerdon_domain::values::{
        CompanyId, EmailAddress, Message, OccasionId, RecognitionId, SingleLine, Timestamp, UserId,
    };
    use time::macros::datetime;
    use uuid::Uuid;

    use crate::Bodies;

    fn render_recognition(updated: bool, sender: Sender, name: &SenderName<'_>, share: bool) -> String {
        let company_id = CompanyId::from_uuid(Uuid::from_u128(4));
        let recognition = Recognition {
            id: RecognitionId::from_uuid(Uuid::from_u128(1)),
            receiver_id: UserId::from_uuid(Uuid::from_u128(2)),
            sender,
            message: Message::parse("Thank \"you\" ❤\nso much").unwrap(),
            points: Points::new(25).unwrap(),
            share,
            occasion_id: OccasionId::from_uuid(Uuid::from_u128(3)),
            company_id,
            created_at: Timestamp::new(datetime!(2026-11-20 20:01:02.345678 UTC)),
        };
        let receiver = UserSummary {
            id: recognition.receiver_id,
            company_id,
            first_name: SingleLine::parse("Ada").unwrap(),
            last_name: Some(SingleLine::parse("Lovelace").unwrap()),
            email: EmailAddress::parse("Ada@example.com").unwrap(),
            manager: false,
            active: true,
        };
        let event = RecognitionEvent {
            recognition: &recognition,
            sender: name,
            receiver: &receiver,
            occasion_name: "Thanks",
        };
        let event =
            if updated { Event::RecognitionUpdated(event) } else { Event::RecognitionReceived(event) };
        String::from_utf8(Bodies.render_event(&event).unwrap()).unwrap()
    }

    #[test]
    fn a_public_recognition_of_a_user_shows_everything() {
        let sender = Sender::User(UserId::from_uuid(Uuid::from_u128(5)));
        let name = SenderName { name: "Charles Babbage", email: Some("charles@example.com") };
        assert_eq!(
            render_recognition(false, sender, &name, true),
            concat!(
                r#"{"type":"recognition.received","version":"1.0","data":{"#,
                r#""id":"00000000-0000-0000-0000-000000000001","#,
                r#""sender_type":"user","sender_id":"00000000-0000-0000-0000-000000000005","#,
                r#""sender_name":"Charles Babbage","sender_email":"charles@example.com","#,
                r#""receiver_id":"00000000-0000-0000-0000-000000000002","#,
                r#""receiver_name":"Ada Lovelace","receiver_email":"Ada@example.com","#,
                r#""occasion_id":"00000000-0000-0000-0000-000000000003","occasion_name":"Thanks","#,
                r#""points":25,"company_id":"00000000-0000-0000-0000-000000000004","#,
                r#""message":"Thank \"you\" ❤\nso much","#,
                r#""created_at":"2026-11-20T20:01:02.345Z","share":true}}"#,
            )
        );
    }

    #[test]
    fn a_private_recognition_of_a_company_hides_the_message_and_has_no_sender_email() {
        let sender = Sender::Company(CompanyId::from_uuid(Uuid::from_u128(4)));
        let name = SenderName { name: "Analytical Engines", email: None };
        assert_eq!(
            render_recognition(true, sender, &name, false),
            concat!(
                r#"{"type":"recognition.updated","version":"1.0","data":{"#,
                r#""id":"00000000-0000-0000-0000-000000000001","#,
                r#""sender_type":"company","sender_id":"00000000-0000-0000-0000-000000000004","#,
                r#""sender_name":"Analytical Engines","sender_email":null,"#,
                r#""receiver_id":"00000000-0000-0000-0000-000000000002","#,
                r#""receiver_name":"Ada Lovelace","receiver_email":"Ada@example.com","#,
                r#""occasion_id":"00000000-0000-0000-0000-000000000003","occasion_name":"Thanks","#,
                r#""points":25,"company_id":"00000000-0000-0000-0000-000000000004","#,
                r#""message":null,"created_at":"2026-11-20T20:01:02.345Z","share":false}}"#,
            )
        );
    }
}
